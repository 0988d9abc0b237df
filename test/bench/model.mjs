/**
 * `npm run bench:model [-- --count=50] [--write]`: time per graph of the default bundle on one thread, for the
 * example pair, and the time of decoding and resizing.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../scripts/lib/shell.mjs';
import { fullHdPairs } from './lib/pairs.mjs';
import { ms, percentile, report } from './lib/report.mjs';
import { dist, numberOption } from './lib/service.mjs';

const count = numberOption('count', 50);
const WARM_UP = 3;
const { loadConfig } = await dist('config.js');
const { createLogger } = await dist('logger.js');
const { Captioner } = await dist('model/captioner.js');
const { resizeNormalised, wholeFrame } = await dist('model/preprocess.js');
const { chooseRegionCrops, findRegions, toPixels } = await dist('model/regions.js');
const { openGraph } = await dist('model/session.js');
const { loadBundles } = await dist('pipeline/bundles.js');
const { decodeFrame } = await dist('frames/decode.js');

const config = loadConfig();
const [bundle] = await loadBundles(
  config.modelsDir,
  config.defaultModel,
  createLogger({ level: 'warn', name: 'bench' }),
);
const { manifest, directory } = bundle;
const open = (name) => openGraph(join(directory, manifest.graphs[name].file), 'cpu');
const captioner = new Captioner(
  bundle,
  { features: await open('features'), difference: await open('difference'), caption: await open('caption') },
  null,
);
await captioner.warmUp();

const rows = [];
/** @returns the last result of `work` */
async function time(name, work) {
  const took = [];
  let result;
  for (let i = 0; i < WARM_UP + count; i++) {
    const start = performance.now();
    result = await work();
    if (i >= WARM_UP) took.push(performance.now() - start);
  }
  rows.push([name, ...[0.5, 0.95].map((share) => ms(percentile(took, share)))]);
  return result;
}

const { width, height } = manifest.input;
const decode = (bytes, side) =>
  decodeFrame(bytes, {
    field: side,
    pixelLimit: config.pixelLimit,
    allocate: (length) => new Uint8Array(length),
  });
const image = (frame, box, w, h) => {
  const out = new Float32Array(3 * w * h);
  resizeNormalised(frame, box, w, h, manifest.input, out);
  return out;
};

const [fullHd] = await fullHdPairs();
await time('decode one 1080p JPEG', () => decode(fullHd.after, 'after'));
const before = await decode(readFileSync(join(ROOT, 'examples/before.jpg')), 'before');
const after = await time('decode the 768 x 576 example', () =>
  decode(readFileSync(join(ROOT, 'examples/after.jpg')), 'after'),
);
const whole = await time(`resize to ${width} x ${height}`, async () => image(after, wholeFrame(after), width, height));
const [ofAfter] = await time('features, one frame', () => captioner.encode([whole], height, width));
const [ofBefore] = await captioner.encode([image(before, wholeFrame(before), width, height)], height, width);
const [difference] = await time('difference', () => captioner.difference([{ before: ofBefore, after: ofAfter }]));
const regions = await time('regions', async () =>
  findRegions({ before: difference.before, after: difference.after }, manifest.regions),
);
let crops = [];
if (manifest.glance !== null && regions.length > 0) {
  const { size } = manifest.glance;
  const chosen = chooseRegionCrops(regions, before, manifest.glance);
  const images = (frame) => chosen.map(({ crop }) => image(frame, toPixels(crop, frame), size, size));
  const afters = await time(`features, ${chosen.length} crops of ${size} x ${size}`, () =>
    captioner.encode(images(after), size, size),
  );
  const befores = await captioner.encode(images(before), size, size);
  crops = chosen.map((crop, i) => ({ ...crop, before: befores[i], after: afters[i] }));
}
const [sentence] = await time('caption', () => captioner.caption([{ ...difference, crops }]));
await captioner.release();

report(
  'bench:model',
  'Model: each graph on one thread',
  [['step', 'p50 ms', 'p95 ms'], ...rows],
  [
    `${manifest.name} ${manifest.version} (sha256 ${bundle.sha256.slice(0, 12)}), ${count} runs each; the ` +
      `caption has ${sentence.length} words, ${crops.length} region crops.`,
  ],
);
