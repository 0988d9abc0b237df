/**
 * `npm run bench -- manifest [--lines=1000000] [--write]`: memory of a worker over a batch whose manifest has many
 * lines. Each step of the batch runs in a process of its own, with the stores of a worker in a folder and without
 * Redis, a model and the network; the memory of those comes on top.
 */
import { execFileSync } from 'node:child_process';
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOptions } from '../../scripts/lib/options.mjs';
import { mb, report } from './lib/report.mjs';
import { dist } from './lib/service.mjs';

const { values } = readOptions({
  ...{ lines: { type: 'string', default: '1000000' }, write: { type: 'boolean' } },
  ...{ step: { type: 'string' }, folder: { type: 'string' } },
});
const lines = Number(values.lines);
const ID = `bat_${'0'.repeat(26)}`;
const START = Date.UTC(2026, 0, 1);
/** Frames per chunk, as the loop over a recording saves them. */
const CHUNK = 256;
const STEPS = {
  none: 'nothing: the program alone',
  plan: 'plan: the manifest is read, and the recording of its camera is stored',
  camera: 'camera: the plan is read, up to the first download',
  finish: 'finish: the results of all frames are written',
};

if (values.step === undefined) measureAll();
else await runStep(values.step, values.folder);

function measureAll() {
  const folder = mkdtempSync(join(tmpdir(), 'sd-manifest-'));
  try {
    const peaks = Object.entries(STEPS).map(([step, what]) => {
      const args = [fileURLToPath(import.meta.url), `--step=${step}`, `--folder=${folder}`, `--lines=${lines}`];
      const { bytes, seconds } = JSON.parse(
        execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }),
      );
      console.error(`${step}: ${mb(bytes)}, ${seconds} s`);
      return [what, mb(bytes), `${seconds} s`];
    });
    report(
      'manifest',
      'Batches: memory of a worker over a manifest of many lines',
      [['step of the batch', 'peak memory', 'time'], ...peaks],
      [
        `${lines} lines of one camera, an address with a time each. Every step in a process of its own, without Redis, ` +
          'a model and the network. Frames of the last step are quiet ones, without changes.',
        'Before plans were stored in parts, and with a list of all lines of an output, the steps plan, camera and finish ' +
          'took 1738 MB, 922 MB and 959 MB on the same machine.',
      ],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Prints the peak memory of this process and the time of the step. */
async function runStep(step, folder) {
  const begun = Date.now();
  const [{ createBatchProcessor }, { createFileBlobStore }, { createBatchFiles }, { checkSettings }] =
    await Promise.all(
      [
        'batches/processor.js',
        'stores/blobs/files.js',
        'stores/batches/batch-files.js',
        'camera/settings/settings.js',
      ].map(dist),
    );
  const blobs = createFileBlobStore(join(folder, 'blobs'));
  const files = createBatchFiles(folder);
  if (step === 'plan') await writeManifest(files.uploadOf(ID, 1), files.folderOf(ID));
  const planFile = join(folder, 'plan.json');
  const plan = step === 'camera' || step === 'finish' ? JSON.parse(readFileSync(planFile, 'utf8')) : null;
  const chunks = step === 'finish' ? await writeChunks(blobs) : [];
  const counts = { frames: lines, examined: 0, changes: 0, visits: 0, gaps: 0, failures: 0 };
  const checkpoint = {
    account: { in: 0, skipped: {} },
    chunk: chunks.length,
    done: true,
    counts,
    model: null,
    position: {},
  };
  const request = {
    ...{ inputs: [], manifest: 1, camera: null, settings: checkSettings({}), template: null, timeZone: null },
    ...{ start: null, imageInterval: 1, since: null, until: null, every: { mode: 'auto' }, acrossGaps: false },
    mergeWindow: null,
  };
  const record = {
    ...{ id: ID, owner: 'local', createdAt: START, request, finishedAt: null, error: null, plan },
    status: plan === null ? 'queued' : 'running',
    ...{ progress: step === 'finish' ? [{ done: true }] : [], chunks: [0], run: { number: 0, since: [0] } },
  };
  const ended = new AbortController();
  const unexpected = async () => {
    throw new Error(`the step ${step} did more than was expected`);
  };
  const processor = createBatchProcessor({
    batches: {
      get: async () => record,
      begin: async (_id, made) => writeFileSync(planFile, JSON.stringify(made)),
      fail: async (_id, { detail }) => {
        throw new Error(detail);
      },
      checkpoint: async () =>
        chunks.length === 0 ? undefined : { checkpoint: JSON.stringify({ checkpoint, blobs: [] }), chunks },
      ...{ commit: async () => true, complete: async () => true },
    },
    ...{ blobs, files, cameras: { get: async () => undefined } },
    s3: undefined,
    outbound: {
      download: async () => {
        ended.abort();
        return unexpected();
      },
    },
    queue: { addBatchRun: async () => {} },
    pipeline: { compare: unexpected, operatingPoints: () => ({}) },
    config: {
      ffmpeg: 'ffmpeg',
      ffmpegHwaccel: 'none',
      videoPixelLimit: 1e7,
      frameLimit: 1e7,
      footageLimit: 1e9,
      pixelLimit: 5e7,
      decodeTimeout: 10,
    },
    ...{ logger: console, clock: Date.now },
  });
  const job = { v: 2, batchId: ID, step, ...(step === 'camera' ? { camera: 0 } : {}) };
  if (step !== 'none') await processor.process(job, { signal: ended.signal, lastAttempt: true });
  const bytes = process.resourceUsage().maxRSS * 1024;
  console.log(JSON.stringify({ bytes, seconds: Number(((Date.now() - begun) / 1000).toFixed(1)) }));
}

function fileOf(i) {
  return `https://recorder.example/yard/2026/${Math.floor(i / 10_000)}/shot-${String(i).padStart(7, '0')}.jpg`;
}

function timeOf(i) {
  return new Date(START + 2000 * i).toISOString();
}

async function writeManifest(path, folder) {
  mkdirSync(folder, { recursive: true });
  const out = createWriteStream(path);
  for (let i = 0; i < lines; i++) {
    const line = `${JSON.stringify({ file: fileOf(i), camera: 'yard', at: timeOf(i) })}\n`;
    if (!out.write(line)) await new Promise((done) => out.once('drain', done));
  }
  await new Promise((done) => out.end(done));
}

/** @returns names of the blobs with the records of all frames */
async function writeChunks(blobs) {
  const names = [];
  for (let from = 0; from < lines; from += CHUNK) {
    const records = [];
    for (let i = from; i < Math.min(lines, from + CHUNK); i++) {
      const moment = { at: timeOf(i), file: fileOf(i), seconds: 0 };
      const stats = { ...{ v: 1, camera: 'yard', number: i }, ...moment, time: START + 2000 * i, examined: false };
      const evidence = { score: 0.123456789, before: { kind: 'previous' }, finding: null, threshold: null };
      records.push({ type: 'frame', record: { ...stats, ...evidence } });
      records.push({ type: 'file', record: { file: moment.file, at: moment.at, duration: null } });
    }
    const name = `batches/${ID}/0/chunks/${String(from).padStart(8, '0')}`;
    await blobs.put(name, Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join('')));
    names.push(name);
  }
  return names;
}
