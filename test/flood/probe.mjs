/**
 * Thread that asks one address again and again, on a new connection each time. It reports the slowest answer in ms, and
 * the longest time that the service itself computed during one: the part of it that a busy machine does not lengthen.
 */
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const EVERY_MS = 20;
const { url, pid } = workerData;
/** ms that the main thread of the service has run (Linux) */
const computed = () => Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
let ended = false;
parentPort.once('message', () => (ended = true));

const ask = () =>
  new Promise((done, reject) => {
    get(url, { agent: false }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${url} answered ${answer.statusCode}`));
      answer.resume().once('end', done);
    }).once('error', reject);
  });

let [slowest, longest] = [0, 0];
await ask();
parentPort.postMessage('ready');
while (!ended) {
  const [start, before] = [performance.now(), computed()];
  await ask();
  slowest = Math.max(slowest, performance.now() - start);
  longest = Math.max(longest, computed() - before);
  await pause(EVERY_MS);
}
parentPort.postMessage({ slowestMs: Math.round(slowest), computedMs: Math.round(longest) });
