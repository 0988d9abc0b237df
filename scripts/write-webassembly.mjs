/**
 * `npm run webassembly`: compiles each .wat file of src into a TypeScript file, which is committed, so that a build
 * needs no WebAssembly tools. `-- --check` compares instead of writing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import wabt from 'wabt';
import { readOptions } from './lib/options.mjs';
import { ROOT, runMain, Stop } from './lib/shell.mjs';

/** Each is compiled into the file of its name with `-code.ts`, which exports the code under this name. */
const SOURCES = {
  'src/base/preview-loops.wat': 'PREVIEW_LOOPS_CODE',
  'src/model/resample.wat': 'RESAMPLE_CODE',
  'src/viewpoint/squares.wat': 'SQUARES_CODE',
};

async function main() {
  const { check } = readOptions({ check: { type: 'boolean' } }).values;
  const { parseWat } = await wabt();
  for (const [source, constant] of Object.entries(SOURCES)) {
    const module = parseWat(source, readFileSync(join(ROOT, source), 'utf8'), { simd: true });
    const base64 = Buffer.from(module.toBinary({}).buffer).toString('base64');
    const lines = (base64.match(/.{1,100}/g) ?? []).map((line) => `  '${line}',`);
    const text = `/** Written by \`npm run webassembly\` from ${basename(source)}: WebAssembly as base64. */
export const ${constant} = [
${lines.join('\n')}
].join('');
`;
    const code = source.replace('.wat', '-code.ts');
    if (!check) writeFileSync(join(ROOT, code), text);
    else if (readFileSync(join(ROOT, code), 'utf8') !== text) {
      throw new Stop(`${code} is not what ${source} compiles to. Run: npm run webassembly`);
    }
  }
}

await runMain(main);
