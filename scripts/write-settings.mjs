/** Writes the table of settings into deploy/README.md from the schemas that check them. Needs `npm run build`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './lib/shell.mjs';

const README = join(ROOT, 'deploy/README.md');
const BEGIN = '<!-- settings: written by `node scripts/write-settings.mjs` -->';
const END = '<!-- /settings -->';

const { describeConfig } = await import(pathToFileURL(join(ROOT, 'dist/config.js')));
const rows = describeConfig().map(
  ({ env, type, default: fallback, describe }) =>
    `| \`${env}\` | ${type} | ${fallback === '' ? '' : `\`${fallback}\``} | ${describe.replaceAll('|', '\\|')} |`,
);
const table = ['| setting | type and range | default | meaning |', '|---|---|---|---|', ...rows].join('\n');

const text = readFileSync(README, 'utf8');
const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
if (from < 0 || to < from) throw new Error(`${README} has no section from ${BEGIN} to ${END}`);
writeFileSync(README, `${text.slice(0, from + BEGIN.length)}\n${table}\n${text.slice(to)}`);
