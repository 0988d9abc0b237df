/** The hand-made graphs of test/fixtures/make-tiny-search.py, and bundle-tiny with them. */
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GraphSpec } from '../../src/model/graphs-schema.js';
import type { SearchManifest } from '../../src/model/search-manifest.js';
import { copyOfTiny, FIXTURES, put, sha256 } from './tiny-bundle.js';

const TINY_SEARCH = join(FIXTURES, 'search-tiny');

export const tinySearch = async (): Promise<{ graphs: { pair: GraphSpec; text: GraphSpec }; search: SearchManifest }> =>
  JSON.parse(await readFile(join(TINY_SEARCH, 'manifest-part.json'), 'utf8'));

/** Copies bundle-tiny with the graphs `pair` and `text` into a new models folder. */
export async function tinyWithSearch(
  edit: (manifest: Record<string, unknown>) => void = () => {},
): Promise<{ modelsDir: string; directory: string }> {
  const { graphs, search } = await tinySearch();
  const files = ['pair.onnx', 'text.onnx'];
  const hashes = await Promise.all(files.map(async (file) => sha256(await readFile(join(TINY_SEARCH, file)))));
  const made = await copyOfTiny((manifest) => {
    for (const [i, file] of files.entries()) (manifest.files as Record<string, string>)[file] = hashes[i] as string;
    put(manifest, 'graphs.pair', graphs.pair);
    put(manifest, 'graphs.text', graphs.text);
    put(manifest, 'search', search);
    edit(manifest);
  });
  for (const file of files) await cp(join(TINY_SEARCH, file), join(made.directory, file));
  return made;
}
