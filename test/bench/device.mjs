/**
 * `npm run bench -- device [--device=cuda:0] [--threads=1,2,4,8] [--seconds=5] [--graphs=large,all] [--pairs=FILE
 * --count=30] [--models=FOLDER] [--parts=speed,answers,graphs] [--limit=90] [--out=FILE] [--write]`: a device beside
 * the CPU of the same machine: the pairs per second of the pipeline, whether the answers are the same, and the time per
 * run of each graph, in the order of `parts`. `graphs` are values of GPU_GRAPHS, whose last one answers. `pairs` is a
 * file with the paths `before` and `after` per line, of which `count` are answered; `models` are bundles that it
 * runs in place of the CPU's. Each part has `limit` seconds, and `out` gets its figures as a line of JSON when it ends.
 * Without the device the bench says so and ends.
 */
import { appendFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { readOptions, wholeNumber } from '../../scripts/lib/options.mjs';
import { say } from '../../scripts/lib/shell.mjs';
import { compareAnswers, runPart } from './lib/device-parts.mjs';
import { ms, report } from './lib/report.mjs';

const { values } = readOptions({
  device: { type: 'string', default: 'cuda:0' },
  threads: { type: 'string', default: '1,2,4,8' },
  seconds: { type: 'string', default: '5' },
  graphs: { type: 'string', default: 'large,all' },
  pairs: { type: 'string' },
  count: { type: 'string', default: '30' },
  models: { type: 'string' },
  parts: { type: 'string', default: 'speed,answers,graphs' },
  limit: { type: 'string', default: '90' },
  out: { type: 'string' },
  write: { type: 'boolean' }, // read by lib/report.mjs
});
const { device, pairs, models, out } = values;
const [seconds, count, limit] = ['seconds', 'count', 'limit'].map((name) => wholeNumber(name, values[name]));
const threadsOfDevice = values.threads.split(',').map((number) => wholeNumber('threads', number));
const gpuGraphs = values.graphs.split(',');
const failures = [];

/** @returns the figures of a part; null if it failed */
async function measure(part, of, more = {}) {
  const began = performance.now();
  const options = { part, device: of, seconds, pairs, count, ...(of === device ? { models } : {}), ...more };
  const result = await runPart(options, limit * 1000);
  const took = (performance.now() - began) / 1000;
  if (out !== undefined) appendFileSync(out, `${JSON.stringify({ ...options, took, ...result })}\n`);
  say(part, `${of}${more.threads ? `, ${more.threads} threads` : ''}: ${took.toFixed(0)} s ${result.reason ?? ''}`);
  if (result.ok) return result;
  failures.push({ part, on: `${of}${more.threads ? ` with ${more.threads} threads` : ''}`, reason: result.reason });
  return null;
}

const failuresOf = (part) =>
  failures.filter((one) => one.part === part).map(({ on, reason }) => `Failed on ${on}: ${reason}.`);

const short = (value) => String(Number(value.toPrecision(2)));

async function answerRows() {
  const expected = await measure('answers', 'cpu');
  const got = await measure('answers', device, { graphs: gpuGraphs.at(-1) });
  if (expected === null || got === null) return [];
  const same = compareAnswers(expected.answers, got.answers);
  if (out !== undefined) appendFileSync(out, `${JSON.stringify({ part: 'same', device, ...same })}\n`);
  const of = (number) => `${number} of ${same.answers}`;
  return [
    ['equal verdicts', of(same.verdicts)],
    ['equal sentences', of(same.sentences)],
    ['equal boxes of regions', of(same.boxes)],
    ['largest difference of a confidence', short(same.confidence)],
    ['largest difference of a word of equal sentences', short(same.words)],
    ['largest difference of a map cell', short(same.maps)],
  ];
}

async function graphRows() {
  const [onDevice, onCpu] = [await measure('graphs', device), await measure('graphs', 'cpu')];
  const cells = (figures, name) => {
    const [first, again] = [figures?.first[name], figures?.again[name]];
    return again === undefined ? ['', ''] : [ms(first.p50), ms(again.p50)];
  };
  const names = Object.keys(onCpu?.again ?? onDevice?.again ?? {});
  return names.map((name) => [name, ...cells(onCpu, name), ...cells(onDevice, name)]);
}

async function speedRows() {
  const onDevice = (threads) => gpuGraphs.map((graphs) => [device, threads, graphs]);
  const runs = [
    ...onDevice(threadsOfDevice[0]),
    ['cpu', 1, ''],
    ['cpu', availableParallelism(), ''],
    ...threadsOfDevice.slice(1).flatMap(onDevice),
  ];
  const rows = [];
  for (const [of, threads, graphs] of runs) {
    const speed = await measure('speed', of, { threads, ...(graphs === '' ? {} : { graphs }) });
    if (speed === null) continue;
    const cells = ({ perSecond, p50, p95 }) => [perSecond.toFixed(1), ms(p50), ms(p95)];
    const start = (speed.allReady / 1000).toFixed(1);
    const figures = [...cells(speed.changed), ...cells(speed.unchanged), start, speed.gpuMemory ?? ''];
    rows.push([of, graphs, String(threads), ...figures]);
  }
  return rows;
}

const PARTS = { speed: reportSpeed, answers: reportAnswers, graphs: reportGraphs };

async function reportSpeed() {
  const speed = await speedRows();
  const head = [
    'device',
    'GPU_GRAPHS',
    'threads',
    'changed: pairs/s',
    'p50 ms',
    'p95 ms',
    'unchanged: pairs/s',
    'p50 ms',
    'p95 ms',
  ];
  report(
    'device',
    `Speed of ${device}`,
    [[...head, 'start s', 'GPU memory'], ...speed],
    [
      `1080p JPEGs through the pipeline, every frame new, ${seconds} s each, with as many pairs in flight as a worker ` +
        'takes; p50 and p95 are of one pair at a time.',
      `GPU: ${opened.gpu ?? 'none'}; its memory is that of all processes.`,
      ...failuresOf('speed'),
    ],
  );
}

async function reportAnswers() {
  const answers = await answerRows();
  report(
    'device',
    `Answers of ${device} beside those of the CPU`,
    [['of the answers', ''], ...answers],
    ['Confidences, probabilities of words and map cells are between 0 and 1.', ...failuresOf('answers')],
    'device answers',
  );
}

async function reportGraphs() {
  const graphs = await graphRows();
  report(
    'device',
    `Graphs on ${device} and on one thread of the CPU`,
    [['graph, ms per run', 'CPU, first round', 'again', `${device}, first round`, 'again'], ...graphs],
    [
      'Medians over the pairs, one task at a time. In the first round the shapes of tensors are new.',
      ...failuresOf('graphs'),
    ],
    'device graphs',
  );
}

const parts = values.parts.split(',');
const unknown = parts.find((part) => !Object.hasOwn(PARTS, part));
if (unknown !== undefined) throw new Error(`--parts has ${unknown}, expected ${Object.keys(PARTS).join(', ')}`);
const opened = await runPart({ part: 'open', device, models }, limit * 1000);
if (out !== undefined) appendFileSync(out, `${JSON.stringify({ part: 'open', device, ...opened })}\n`);
if (opened.ok) {
  for (const part of parts) await PARTS[part]();
} else {
  say('skipped', `bench device measures nothing: ${opened.reason}`);
}
