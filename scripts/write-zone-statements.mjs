/**
 * `npm run build && node scripts/write-zone-statements.mjs --data=FOLDER`: writes
 * test/fixtures/zone-statements.ndjson, the statements of the default bundle about the changed locations of the
 * development pairs, for the tests of zone names.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Pipeline } from '../dist/pipeline/compare.js';
import { loadConfig } from '../dist/process/config.js';
import { createLogger } from '../dist/process/logger.js';
import { dataFolder, readOptions } from './lib/options.mjs';

const SETS = ['dev_pairs', 'dev2_pairs'];
const { values } = readOptions({ data: { type: 'string' } });
const data = dataFolder(values.data);

const pairs = SETS.flatMap((set) =>
  readFileSync(join(data, set, 'pairs.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => ({ ...JSON.parse(line), folder: join(data, set) }))
    .filter(({ verdict }) => verdict === 'change'),
);
const pipeline = await Pipeline.start({
  config: { ...loadConfig(), inferenceThreads: 1 },
  logger: createLogger({ level: 'silent', name: 'zones' }),
  onlyDefault: true,
  warmUp: false,
});
const round = (figure) => Number(figure.toFixed(4));
const lines = [];
for (const { folder, scene, before, after } of pairs) {
  const [first, second] = [before, after].map((path) => readFileSync(join(folder, path)));
  const { finding } = await pipeline.compare({ before: first, after: second, statements: true });
  for (const { text, kind, regions } of finding.statements ?? []) {
    const about = regions.map((id) => finding.regions.find((region) => region.id === id));
    const boxes = about.map(({ side, box }) => ({ side, box: [box.x, box.y, box.width, box.height].map(round) }));
    lines.push(JSON.stringify({ scene, kind, text, regions: boxes }));
  }
}
await pipeline.close();
writeFileSync(new URL('../test/fixtures/zone-statements.ndjson', import.meta.url), `${lines.join('\n')}\n`);
console.log(`${lines.length} statements of ${pairs.length} pairs`);
