/**
 * Thread of the bare loop: the pipeline of the service, one pair after the other, whose graphs run in this thread,
 * without HTTP, queue, files or messages between threads. Decoding, graphs and their inputs are those of the service
 * because they are chosen by the same code.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { dist } from './lib/service.mjs';

const { Captioner } = await dist('model/captioner.js');
const { resizeNormalised } = await dist('model/preprocess.js');
const { openBundleGraph } = await dist('inference/graph-cache.js');
const { examine } = await dist('viewpoint/examine.js');
const { warpToBefore } = await dist('viewpoint/warp.js');
const { Pipeline } = await dist('pipeline/compare.js');

const { bundle, pairs, config } = workerData;
const { manifest } = bundle;
const names = Object.keys(manifest.graphs);
const opened = await Promise.all(names.map((name) => openBundleGraph(bundle, name, 'cpu', null)));
const captioner = new Captioner(bundle, Object.fromEntries(names.map((name, i) => [name, opened[i]])), null);

/** Evidence of each pair, by its number: a loop without evidence takes it from here. */
const evidenceOf = new Map();
let current = { number: 0, evidence: true };

function evidence({ before, after }) {
  if (current.evidence || !evidenceOf.has(current.number)) evidenceOf.set(current.number, examine(before, after));
  return evidenceOf.get(current.number);
}

function encode({ frame, boxes, width, height }) {
  const images = boxes.map((box) => {
    const out = new Float32Array(3 * width * height);
    resizeNormalised(frame, box, width, height, manifest.input, out);
    return out;
  });
  return captioner.encode(images, height, width);
}

const OPERATIONS = {
  encode,
  difference: async (pair) => (await captioner.difference([pair]))[0],
  caption: (sets) => captioner.caption(sets),
  statements: (input) => captioner.statements(input),
  name: (crops) => captioner.name(crops),
  check: (input) => captioner.check(input),
  examine: evidence,
  align: ({ before, after, homography, out }) => warpToBefore(before, after, homography, out).valid,
};
const pool = { provider: 'cpu', run: async (operation, _bundle, input) => OPERATIONS[operation](input) };
const pipeline = new Pipeline({ config: { ...config, featureCacheMb: 0 } }, [bundle], pool);

async function compare(number, withEvidence) {
  current = { number, evidence: withEvidence };
  const { finding } = await pipeline.compare(pairs[number]);
  if (finding.verdict !== 'change') throw new Error(`pair ${number} is ${finding.verdict}, expected a change`);
}

parentPort.on('message', async ({ until, evidence: withEvidence }) => {
  let done = 0;
  while (Date.now() < until) {
    await compare(done % pairs.length, withEvidence);
    done += 1;
  }
  parentPort.postMessage({ done });
});
for (const number of pairs.keys()) await compare(number, true);
parentPort.postMessage('ready');
