/**
 * `npm run test:archives -- [--folders=500] [--seed=1] [--short]`: folders with random faults of names, times and
 * files, read as `footage` reads them, without a model. Each file must be planned or refused, each frame looked at or
 * skipped for a reason, and a second reading must give the same records.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkSettings } from '../../dist/camera/settings/settings.js';
import { listFiles } from '../../dist/footage/inputs/list-files.js';
import { localFiles } from '../../dist/footage/inputs/local-files.js';
import { planRecording } from '../../dist/footage/inputs/plan.js';
import { unaccounted } from '../../dist/footage/run/frame-account.js';
import { runRecording } from '../../dist/footage/run/recording-run.js';
import { decodeFrame } from '../../dist/frames/decode.js';
import { identicalFinding } from '../../dist/pipeline/finding.js';
import { readOptions } from '../../scripts/lib/options.mjs';
import { makeFolder, makeParts, ZONES } from './lib.mjs';

const { values } = readOptions({
  folders: { type: 'string', default: '500' },
  seed: { type: 'string', default: '1' },
  short: { type: 'boolean' },
});
const count = values.short ? 25 : Number(values.folders);
const signal = new AbortController().signal;
const ffmpeg = process.env.FFMPEG ?? 'ffmpeg';
const decodeLimits = { pixelLimit: 1_000_000 };
/** After all times that the folders state on purpose. */
const NOW = Date.UTC(2026, 10, 26);

/** Decodes, as the pipeline does, and finds nothing. */
const pipeline = {
  operatingPoints: () => [],
  async compare({ before, after }) {
    await decodeFrame(before, { ...decodeLimits, field: 'before' });
    await decodeFrame(after, { ...decodeLimits, field: 'after' });
    return { finding: identicalFinding(), heatmaps: null, timings: {} };
  },
};

async function read(folder, copies, timeZone) {
  const listed = [];
  for await (const file of listFiles(folder, { outputs: null, s3: undefined })) listed.push(file);
  const plan = await planRecording(listed, {
    ...{ template: null, camera: null, start: null, timeZone, imageInterval: 1, ffmpeg, signal, now: NOW },
    videoPixelLimit: 1_000_000,
  });
  const sequences = plan.sequences.map(({ camera, items }) => {
    const range = { from: items[0].at, until: Number.POSITIVE_INFINITY };
    return { camera, items, range, endsAt: items.at(-1).at, gapMs: 600_000 };
  });
  const records = new Map(sequences.map(({ camera }) => [camera, []]));
  const checkpoints = await runRecording(
    sequences,
    checkSettings({}),
    {
      pipeline,
      decodeLimits,
      parallel: 1,
      checkpoints: (camera) => ({
        load: async () => undefined,
        save: async ({ records: saved }) => void records.get(camera).push(...saved),
      }),
      source: {
        ...{ ffmpeg, ffmpegHwaccel: 'none', videoPixelLimit: 1_000_000, frameLimit: 1_000_000 },
        every: { mode: 'all' },
        materialize: localFiles(copies, undefined),
      },
    },
    signal,
  );
  return { listed, plan, sequences, records, checkpoints };
}

function faultsOf({ listed, plan, sequences, records, checkpoints }) {
  const planned = sequences.flatMap(({ items }) => items.map(({ file }) => file));
  const faults = [];
  const known = new Set([...planned, ...plan.failures.map(({ file }) => file)]);
  for (const { file } of listed) if (!known.has(file)) faults.push(`${file} is neither planned nor refused`);
  for (const [i, { camera, items }] of sequences.entries()) {
    const { account, counts } = checkpoints[i];
    const lost = unaccounted(account, counts.frames);
    if (lost !== 0) faults.push(`${camera}: ${lost} of ${account.in} frames have no reason`);
    const ended = new Set(records.get(camera).map(({ record }) => record.file));
    for (const { file } of items) if (!ended.has(file)) faults.push(`${file} was planned and left no record`);
  }
  return faults;
}

const root = await mkdtemp(join(tmpdir(), 'sd-archives-'));
const totals = { files: 0, refused: 0, frames: 0, skipped: 0, doubts: 0 };
const problems = [];
try {
  const parts = await makeParts(root, ffmpeg);
  for (let n = 0; n < count; n++) {
    const seed = `${values.seed}-${n}`;
    const folder = join(root, 'archive');
    const timeZone = ZONES[n % ZONES.length];
    await makeFolder(folder, seed, parts);
    try {
      const [first, second] = [await read(folder, root, timeZone), await read(folder, root, timeZone)];
      for (const fault of faultsOf(first)) problems.push(`seed ${seed}: ${fault}`);
      const content = ({ plan, records, checkpoints }) => JSON.stringify([plan, [...records], checkpoints]);
      if (content(first) !== content(second)) problems.push(`seed ${seed}: two readings differ`);
      totals.files += first.listed.length;
      totals.refused += first.plan.failures.length;
      totals.doubts += first.plan.warnings.length;
      for (const { account, counts } of first.checkpoints) {
        totals.frames += account.in;
        totals.skipped += account.in - counts.frames;
      }
    } catch (thrown) {
      problems.push(`seed ${seed}: ${thrown.stack}`);
    }
    await rm(folder, { recursive: true });
  }
} finally {
  await rm(root, { recursive: true });
}
for (const problem of problems) process.stderr.write(`${problem}\n`);
const { files, refused, frames, skipped, doubts } = totals;
process.stdout.write(
  `${count} folders, ${files} files (${refused} refused, ${doubts} warnings), ${frames} frames in = ` +
    `${frames - skipped} looked at + ${skipped} skipped, ${problems.length} problems\n`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
