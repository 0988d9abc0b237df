/**
 * `npm run check:prose`: holds documents, comments, test titles and API descriptions to docs/prose-rules.yml.
 * `npm run check:prose -- PATH ...` checks files or folders; `-- --count` counts the findings of every folder.
 */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { checkFile, createChecker } from './lib/prose.mjs';
import { ROOT } from './lib/shell.mjs';

const KINDS = new Set(
  '.md .ts .tsx .mjs .cjs .js .py .yaml .yml .toml .conf .service .cuda Dockerfile Caddyfile'.split(' '),
);
const SKIPPED = new Set(['/node_modules', '/dist', '/data', '/tmp', '/coverage', '__pycache__', 'generated']);
/** Files whose text is not ours, or that quote bad sentences. */
const EXEMPT = new Set([
  'docs/prose-rules.yml',
  'test/docs/prose.test.ts',
  'src/base/preview-loops-code.ts',
  'src/model/resample-code.ts',
]);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'boolean' } },
});
const given = positionals.map((path) => relative(ROOT, join(process.cwd(), path)));
const roots = given.length > 0 ? given : ['.'];

const check = await createChecker();
const counts = new Map();
let total = 0;
for (const path of roots.flatMap(filesUnder)) {
  const found = await checkFile(check, path);
  total += found.length;
  const folder = dirname(path);
  if (found.length > 0) counts.set(folder, (counts.get(folder) ?? 0) + found.length);
  if (!values.count) for (const { line, message } of found) console.log(`${path}:${line}  ${message}`);
}
if (values.count) for (const [folder, count] of counts) console.log(`${String(count).padStart(5)}  ${folder}`);
console.log(total === 0 ? 'no findings' : `${total} findings; the rules: docs/prose-rules.yml`);
process.exitCode = total === 0 ? 0 : 1;

/** @returns {string[]} paths relative to the repository */
function filesUnder(path) {
  if (statSync(join(ROOT, path)).isFile()) return isChecked(path) ? [path] : [];
  return readdirSync(join(ROOT, path), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.') && !SKIPPED.has(path === '.' ? `/${name}` : name))
    .flatMap((entry) => {
      const child = join(path, entry.name);
      return entry.isDirectory() ? filesUnder(child) : isChecked(child) ? [child] : [];
    });
}

function isChecked(path) {
  return KINDS.has(extname(path) || basename(path)) && !EXEMPT.has(path);
}
