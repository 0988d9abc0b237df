/**
 * Writes the settings into the table of deploy/README.md and into the schema of the chart's values, from the schemas
 * that check them. Needs `npm run build`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './lib/shell.mjs';

const README = join(ROOT, 'deploy/README.md');
const BEGIN = '<!-- settings: written by `node scripts/write-settings.mjs` -->';
const END = '<!-- /settings -->';

const { describeConfig } = await import(pathToFileURL(join(ROOT, 'dist/process/config.js')));
const settings = describeConfig();
const rows = settings.map(
  ({ env, type, default: fallback, describe }) =>
    `| \`${env}\` | ${type} | ${fallback === '' ? '' : `\`${fallback}\``} | ${describe.replaceAll('|', '\\|')} |`,
);
const table = ['| setting | type and range | default | meaning |', '|---|---|---|---|', ...rows].join('\n');

const text = readFileSync(README, 'utf8');
const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
if (from < 0 || to < from) throw new Error(`${README} has no section from ${BEGIN} to ${END}`);
writeFileSync(README, `${text.slice(0, from + BEGIN.length)}\n${table}\n${text.slice(to)}`);

const VALUES_SCHEMA = join(ROOT, 'deploy/helm/scenedelta/values.schema.json');
/** The chart sets these itself, or takes them from the secret. */
const OF_THE_CHART = new Set(
  [
    'HOST PORT PUBLIC_URL DATA_DIR MODELS_DIR REDIS_URL DEVICE STRICT_DEVICE WORKER_METRICS_PORT',
    'S3_FRAME_BUCKET S3_ENDPOINT S3_REGION AUTH',
    'WEBHOOK_SECRET LOGIN_SECRET S3_ACCESS_KEY_ID S3_SECRET_ACCESS_KEY FRIGATE_TOKEN',
  ].flatMap((line) => line.split(' ')),
);

/** @returns the JSON schema of a setting among the chart's values; YAML reads `on` as true */
function valueSchema({ type }) {
  const [, kind, minimum, maximum] = /^(integer|number) from (\d+) to (\d+)$/.exec(type) ?? [];
  if (kind !== undefined) return { type: kind, minimum: Number(minimum), maximum: Number(maximum) };
  if (type === 'on or off') return { enum: ['on', 'off', true, false] };
  const [, choices] = /^one of (.+)$/.exec(type) ?? [];
  if (choices !== undefined) return { enum: choices.split(', ') };
  if (type === 'list') return { type: ['string', 'array'], items: { type: 'string' } };
  return { type: 'string' };
}

const schema = JSON.parse(readFileSync(VALUES_SCHEMA, 'utf8'));
schema.properties.settings.properties = Object.fromEntries(
  settings
    .filter(({ env }) => !OF_THE_CHART.has(env))
    .map((setting) => [setting.env, { description: setting.describe, ...valueSchema(setting) }]),
);
writeFileSync(VALUES_SCHEMA, `${JSON.stringify(schema, null, 2)}\n`);
