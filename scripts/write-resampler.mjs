/**
 * `npm run resampler`: compiles src/model/resample.wat into src/model/resample-code.ts, which is committed, so that a
 * build needs no WebAssembly tools. `-- --check` compares instead of writing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import wabt from 'wabt';
import { readOptions } from './lib/options.mjs';
import { ROOT, runMain, Stop } from './lib/shell.mjs';

const SOURCE = 'src/model/resample.wat';
const CODE = 'src/model/resample-code.ts';

async function main() {
  const { check } = readOptions({ check: { type: 'boolean' } }).values;
  const { parseWat } = await wabt();
  const module = parseWat(SOURCE, readFileSync(join(ROOT, SOURCE), 'utf8'), { simd: true });
  const base64 = Buffer.from(module.toBinary({}).buffer).toString('base64');
  const lines = (base64.match(/.{1,100}/g) ?? []).map((line) => `  '${line}',`);
  const text = `/** Written by \`npm run resampler\` from resample.wat: WebAssembly as base64. */
export const RESAMPLE_CODE = [
${lines.join('\n')}
].join('');
`;
  if (!check) return writeFileSync(join(ROOT, CODE), text);
  if (readFileSync(join(ROOT, CODE), 'utf8') !== text) {
    throw new Stop(`${CODE} is not what ${SOURCE} compiles to. Run: npm run resampler`);
  }
}

await runMain(main);
