/** Thread of the bare loop: the pipeline, one pair after the other, without HTTP, queue, files or other threads. */
import { parentPort, workerData } from 'node:worker_threads';
import { barePipeline } from './lib/bare-pipeline.mjs';
import { dist } from './lib/service.mjs';

const { examine } = await dist('viewpoint/examine.js');

const { bundle, pairs, config } = workerData;

/** Evidence of each pair, by its number: a loop without evidence takes it from here. */
const evidenceOf = new Map();
let current = { number: 0, evidence: true };

function evidence({ before, after }) {
  if (current.evidence || !evidenceOf.has(current.number)) evidenceOf.set(current.number, examine(before, after));
  return evidenceOf.get(current.number);
}

const pipeline = await barePipeline(bundle, config, { evidence });

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
