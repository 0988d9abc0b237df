/**
 * Part of `npm run build:program`: TypeBox as three files in dist/typebox, which the compiled program imports. The
 * package has 340 modules; to load them took 300 CPU-ms of every start, and the three files take 20.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { ROOT } from './lib/shell.mjs';

const DIST = join(ROOT, 'dist');
const BUNDLED = join(DIST, 'typebox');
/** Import of the package -> file in BUNDLED. */
const ENTRIES = { typebox: 'index', 'typebox/value': 'value', 'typebox/compile': 'compile' };
const IMPORT = /(\bfrom |\bimport\()(['"])(typebox(?:\/value|\/compile)?)\2/g;

await build({
  configFile: false,
  logLevel: 'warn',
  root: ROOT,
  build: {
    outDir: BUNDLED,
    minify: true,
    target: 'node20',
    reportCompressedSize: false,
    lib: {
      entry: Object.fromEntries(
        Object.entries(ENTRIES).map(([name, file]) => [file, fileURLToPath(import.meta.resolve(name))]),
      ),
      formats: ['es'],
    },
  },
});

for (const name of readdirSync(DIST, { recursive: true })) {
  const path = join(DIST, name);
  if (!name.endsWith('.js') || path.startsWith(BUNDLED) || !statSync(path).isFile()) continue;
  const text = readFileSync(path, 'utf8');
  const folder = relative(dirname(path), BUNDLED);
  const changed = text.replace(IMPORT, (_, before, quote, entry) => {
    const file = `${folder}/${ENTRIES[entry]}.js`;
    return `${before}${quote}${file.startsWith('.') ? file : `./${file}`}${quote}`;
  });
  if (changed !== text) writeFileSync(path, changed);
}
