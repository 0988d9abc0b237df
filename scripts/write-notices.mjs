/**
 * Collects the licences of the production packages in node_modules into one file, for the images: name, version,
 * licence, address and the package's own licence texts.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from './lib/shell.mjs';

const USAGE = 'usage: node scripts/write-notices.mjs FILE';
/** Files that hold a licence, an attribution, or, in sharp's prebuilt libraries, the table of the licences inside. */
const TEXTS = /^(licen[cs]e|copying|copyright|notice|third.?party)/i;
const TABLE = /^readme/i;

/** @returns one entry per installed production package, by name */
function productionPackages() {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([path, { dev, devOptional, link }]) => path.includes('node_modules/') && !dev && !devOptional && !link)
    .map(([path]) => join(ROOT, path))
    .flatMap((folder) => {
      try {
        return [{ folder, ...JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) }];
      } catch {
        return []; // an optional package of another platform
      }
    })
    .sort((a, b) => a.name.localeCompare(b.name));
}

function notice({ folder, name, version, license, homepage, repository }) {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const named = files.filter((entry) => TEXTS.test(entry.name));
  const texts = named.length > 0 ? named : files.filter((entry) => TABLE.test(entry.name));
  const address = homepage ?? repository?.url ?? repository ?? '';
  return [
    '='.repeat(100),
    `${name} ${version}`,
    `Licence: ${license ?? 'see below'}`,
    ...(address === '' ? [] : [`Address: ${address}`]),
    ...texts.map((entry) => `\n${readFileSync(join(folder, entry.name), 'utf8').trim()}`),
  ].join('\n');
}

const { positionals } = parseArgs({ allowPositionals: true });
const [file] = positionals;
if (file === undefined || positionals.length > 1) {
  console.error(`${USAGE}\nexpected one file, got ${positionals.length}`);
  process.exit(2);
}
const packages = productionPackages();
writeFileSync(file, `${packages.map(notice).join('\n\n')}\n`);
console.log(`${file}: ${packages.length} packages`);
