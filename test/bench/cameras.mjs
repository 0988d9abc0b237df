/**
 * `npm run bench -- cameras [--seconds=12] [--frames=40] [--write]`: how many cameras with a frame per second the
 * machine serves, and the CPU time of a quiet and of a busy frame (API, worker and Redis without the client), with and
 * without the rule of quiet frames, beside the library call and the same frames decoded and nothing else, in one run.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { readOptions } from '../../scripts/lib/options.mjs';
import { createCameras } from './lib/camera-clients.mjs';
import { libraryCall } from './lib/camera-library.mjs';
import { cameraSequences } from './lib/camera-sequences.mjs';
import { ms, report } from './lib/report.mjs';
import { numberOption, startService } from './lib/service.mjs';

readOptions({ seconds: { type: 'string' }, frames: { type: 'string' }, write: { type: 'boolean' } });
const seconds = numberOption('seconds', 12);
const frames = numberOption('frames', 40);
/** Frames per camera before the figures, in which the service learns the camera. */
const WARM_UP_FRAMES = 12;
/** Cameras that keep the service busy while its rate is measured. */
const SENDERS = 8;
/** Counts of cameras that are tried, each by this factor from the one before. */
const STEP = 1.25;
const TRIES = 5;
/** Frames of the library call: more than a minute before the figures, in which its code is compiled. */
const LIBRARY_WARM_UP_FRAMES = 70;
const LIBRARY_FRAMES = 120;
/** Width of a 1080p frame that is decoded at a quarter. */
const PREVIEW_WIDTH = 480;

/** CPU-ms of one decoding at a quarter, by sharp, which uses the reduced transforms of the JPEG decoder. */
async function decodingAlone(inputs, decode) {
  sharp.concurrency(1);
  sharp.cache(false);
  for (const input of inputs.slice(0, WARM_UP_FRAMES)) await decode(input);
  const before = process.cpuUsage();
  for (const input of inputs) await decode(input);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / inputs.length;
}
const decodeToGrey = (jpeg) => sharp(jpeg).resize(PREVIEW_WIDTH).greyscale().raw().toBuffer();

/** As decodingAlone, by the decoder's own reduction and nothing else. libvips takes it only with the name of a file. */
async function reductionAlone(sequence) {
  const folder = mkdtempSync(join(tmpdir(), 'sd-bench-'));
  try {
    const files = sequence.map((_jpeg, i) => join(folder, `${i}.jpg`));
    for (const [i, jpeg] of sequence.entries()) writeFileSync(files[i], jpeg);
    return await decodingAlone(files, (file) => sharp(`${file}[shrink=4]`).raw().toBuffer());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns the highest count of cameras at which nothing waits; 0 with the last figures if it was never found */
async function served(cameras) {
  await cameras.warmUp(SENDERS, WARM_UP_FRAMES);
  const rate = await cameras.asFastAsPossible(SENDERS, seconds);
  let best;
  let last;
  for (let count = Math.max(1, Math.floor(rate / STEP)), tries = 0; tries < TRIES && count > 0; tries++) {
    await cameras.warmUp(count, WARM_UP_FRAMES);
    last = await cameras.onePerSecond(count, seconds);
    console.error(`${count} cameras: p95 ${ms(last.p95)} ms, CPU-ms ${last.cpuPerFrame.map(ms).join(' + ')}`);
    if (!last.waits && (best === undefined || count > best.count)) best = last;
    else if (best !== undefined) break;
    count = last.waits ? Math.floor(count / STEP) : Math.max(count + 1, Math.floor(count * STEP));
  }
  return { rate, ...(best ?? { ...last, count: 0 }) };
}

const percent = (share) => `${(100 * share).toFixed(0)} %`;

const service = await startService();
const rows = [];
try {
  const { quiet, busy } = await cameraSequences(frames);
  const alone = await decodingAlone(quiet, decodeToGrey);
  const reduction = await reductionAlone(quiet);
  const cases = [
    { name: 'quiet', sequence: quiet, settings: {} },
    { name: 'quiet, every frame examined', sequence: quiet, settings: { examine_every_s: 0 } },
    { name: 'busy', sequence: busy, settings: {} },
  ];
  for (const { name, sequence, settings } of cases) {
    const cameras = createCameras(service, sequence, { name: name.replaceAll(/\W+/g, ''), settings });
    const { count, rate, p95, cpuPerFrame, ...shares } = await served(cameras);
    await cameras.close();
    const cpu = cpuPerFrame.reduce((sum, part) => sum + part, 0);
    rows.push([
      name,
      rate.toFixed(1),
      `${count} (p95 ${ms(p95)} ms)`,
      `${ms(cpu)} = ${cpuPerFrame.map(ms).join(' + ')}`,
      (1000 / cpu).toFixed(1),
      (cpu / alone).toFixed(1),
      percent(shares.quiet),
      percent(shares.changed),
    ]);
  }
  const library = await libraryCall(quiet, { warmUp: LIBRARY_WARM_UP_FRAMES, frames: LIBRARY_FRAMES });
  const ofOne = (name, cpu, rate) => [name, rate, '', ms(cpu), (1000 / cpu).toFixed(1), (cpu / alone).toFixed(1)];
  rows.push([...ofOne('quiet, library call', library.cpu, library.rate.toFixed(1)), percent(library.quiet), '']);
  rows.push([...ofOne('quiet, decoded alone', alone, ''), '', '']);
  rows.push([...ofOne('quiet, reduced by the decoder alone', reduction, ''), '', '']);
  report(
    'cameras',
    'Cameras: frames of fixed 1080p cameras by HTTP',
    [
      [
        'frames',
        'a second, as fast as possible',
        'cameras at 1 frame/s, nothing waits',
        'CPU-ms per frame = API + worker + Redis',
        'cameras per core',
        'decodings',
        'quiet',
        'verdict change',
      ],
      ...rows,
    ],
    [
      `${availableParallelism()} cores, which the client shares; ${seconds} s per measurement. Files and Redis are ` +
        'synced.',
      'Nothing waits: 95 % of the frames have their result within a second of their acceptance.',
      'Decodings: CPU time as a multiple of that of decoding the same frames and nothing else, by sharp, at a quarter ' +
        `(${PREVIEW_WIDTH} px wide), grey. Reduced by the decoder alone: in colour, the least that can be done. Library ` +
        'call: one frame after the other, without HTTP and storing.',
    ],
  );
} finally {
  await service.stop();
}
