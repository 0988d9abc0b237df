/**
 * Thread of the bare loop: decoding, graphs and optionally the viewpoint evidence of the service, one pair after the
 * other, without HTTP, queue, files or messages between threads.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { dist } from './lib/service.mjs';

const { Captioner } = await dist('model/captioner.js');
const { resizeNormalised, fullFrame } = await dist('model/preprocess.js');
const { chooseRegionCrops, findRegions, toPixels } = await dist('model/regions.js');
const { openGraph } = await dist('model/session.js');
const { predictionOf } = await dist('model/calibration.js');
const { examine } = await dist('viewpoint/examine.js');
const { decodeFrame } = await dist('frames/decode.js');

const { bundle, pairs, pixelLimit } = workerData;
const { manifest, directory } = bundle;
const open = (name) => openGraph(`${directory}/${manifest.graphs[name].file}`, 'cpu');
const graphs = {
  features: await open('features'),
  difference: await open('difference'),
  caption: await open('caption'),
};
const captioner = new Captioner(bundle, graphs, null);
await captioner.warmUp();

const image = (frame, box, width, height) => {
  const out = new Float32Array(3 * width * height);
  resizeNormalised(frame, box, width, height, manifest.input, out);
  return out;
};

async function compare({ before, after }, evidence) {
  const decode = (bytes, side) =>
    decodeFrame(bytes, { field: side, pixelLimit, allocate: (length) => new Uint8Array(length) });
  const frames = [await decode(before, 'before'), await decode(after, 'after')];
  if (evidence) examine(frames[0], frames[1]);
  const { width, height } = manifest.input;
  const encoded = [];
  for (const frame of frames) {
    const [features] = await captioner.encode([image(frame, fullFrame(frame), width, height)], height, width);
    encoded.push(features);
  }
  const [difference] = await captioner.difference([{ before: encoded[0], after: encoded[1] }]);
  if (!predictionOf(difference, manifest).changed) return;
  const regions = findRegions({ before: difference.before, after: difference.after }, manifest.regions);
  const rule = manifest.glance;
  const chosen = rule === null || regions.length === 0 ? [] : chooseRegionCrops(regions, frames[0], rule);
  const crops = [];
  for (const frame of frames) {
    const images = chosen.map(({ crop }) => image(frame, toPixels(crop, frame), rule.size, rule.size));
    crops.push(images.length === 0 ? [] : await captioner.encode(images, rule.size, rule.size));
  }
  const withFeatures = chosen.map((crop, i) => ({ ...crop, before: crops[0][i], after: crops[1][i] }));
  await captioner.caption([{ ...difference, crops: withFeatures }]);
}

parentPort.on('message', async ({ until, evidence }) => {
  let done = 0;
  while (Date.now() < until) {
    await compare(pairs[done % pairs.length], evidence);
    done += 1;
  }
  parentPort.postMessage({ done });
});
parentPort.postMessage('ready');
