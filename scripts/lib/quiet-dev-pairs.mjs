/** The rule of quiet frames on the changed development pairs, which chose nothing of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { comparePreviews } from '../../dist/camera/quiet/compare.js';
import { decodePreview } from '../../dist/frames/preview.js';

const LIMITS = { pixelLimit: 50_000_000, field: 'development pair' };

/**
 * @param folder data folder with dev_pairs
 * @returns {Promise<{ pairs: number, quiet: string[] }>} ids of changed pairs that would be quiet for a camera with as
 *   much noise as can be learned
 */
export async function quietDevelopmentPairs(folder) {
  const root = join(folder, 'dev_pairs');
  const lines = readFileSync(join(root, 'pairs.ndjson'), 'utf8').trim().split('\n');
  const changed = lines.map((line) => JSON.parse(line)).filter(({ verdict }) => verdict === 'change');
  const quiet = [];
  for (const { id, before, after } of changed) {
    const [examined, current] = await Promise.all(
      [before, after].map((file) => decodePreview(readFileSync(join(root, file)), LIMITS)),
    );
    const { tiles } = comparePreviews(examined, current, null, null);
    if (tiles === null) continue;
    const { columns, rows } = tiles;
    const most = Buffer.alloc(columns * rows, 255).toString('base64');
    const noise = { columns, rows, pairs: 8, fine: most, coarse: most, chroma: most };
    if (comparePreviews(examined, current, noise, null).quiet) quiet.push(id);
  }
  return { pairs: changed.length, quiet };
}
