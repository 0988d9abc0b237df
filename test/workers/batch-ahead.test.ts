/** Comparisons of one camera of a batch by several workers: the bytes are those of one, whatever the others do. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { buildOf, createCompareStored, createComparisonsAhead, sweepAhead } from '../../src/batches/ahead.js';
import { givingWay } from '../../src/batches/giving-way.js';
import { checkSettings } from '../../src/camera/settings/settings.js';
import { localFiles } from '../../src/footage/inputs/local-files.js';
import { recordedCamera } from '../../src/footage/replay/recorded-camera.js';
import { type CheckpointStore, storedCheckpoint } from '../../src/footage/run/checkpoint.js';
import { runSequence } from '../../src/footage/run/sequence-run.js';
import { createJobProducer } from '../../src/jobs/producer.js';
import { createQuestioner } from '../../src/jobs/questioner.js';
import { aheadQueue } from '../../src/jobs/queues.js';
import type { Comparer } from '../../src/pipeline/pair.js';
import { createWorkerRegistry } from '../../src/stores/redis/workers.js';
import {
  createQuestionProcessor,
  type QuestionDependencies,
  startQuestionWorker,
} from '../../src/workers/question-job.js';
import { walkingPipeline } from '../helpers/cameras.js';
import { eventually } from '../helpers/eventually.js';
import { frameOf, type Scene } from '../helpers/sequences.js';
import { jobGuard, logger, useBench } from '../helpers/workers.js';

jest.setTimeout(120_000);

const START = Date.UTC(2026, 5, 1, 12);
const BATCH = 'bat_ahead';
const MODEL = {
  name: 'tiny',
  version: '1',
  sha256: 'f'.repeat(64),
  architecture: 'x',
  licence: 'MIT',
  provider: 'cpu',
};
const BUILD = buildOf([{ ...MODEL, default: true, metrics: {} }], 0.5);
const THING = [40, 120, 20, 40, [220, 40, 40]] as const;
/** All are examined, because their times are far apart. */
const SCENES: readonly Scene[] = Array.from({ length: 16 }, (_, i) => ({
  noise: `${i}`,
  ...(i >= 5 && i < 11 ? { things: [THING] } : {}),
}));
const grid = (level: number) => ({ width: 2, height: 1, data: Float32Array.of(level, 0.1) });

const bench = useBench();
const open: { close(): Promise<unknown> }[] = [];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-batch-ahead-'));
  for (const [i, scene] of SCENES.entries()) await writeFile(join(folder, `${i}.jpg`), await frameOf(scene));
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
afterAll(() => rm(folder, { recursive: true }));

/** With heatmaps, so that an outline depends on each of their bits. */
function pipelineOf(onCompare: () => Promise<void> | void = () => {}) {
  const { pipeline } = walkingPipeline();
  const compare: Comparer['compare'] = async (input) => {
    await onCompare();
    const output = await pipeline.compare(input);
    const words = output.finding.words.map(() => grid(0.3));
    return { ...output, heatmaps: { before: grid(1 / 3), after: grid(2 / 3), words: { before: words, after: words } } };
  };
  return givingWay({ ...pipeline, compare }, async () => {});
}

function promiseOf() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

/** A worker that answers what others ask. */
async function helper(name: string, onCompare: () => Promise<void> | void) {
  const models = [{ ...MODEL, default: true, metrics: {} }];
  const registered = { id: name, host: 'test', pid: 1, started_at: new Date(0).toISOString(), models };
  await createWorkerRegistry(bench.redis).beat(registered);
  const processor = createQuestionProcessor({
    compareStored: createCompareStored(pipelineOf(onCompare), bench.blobs),
    publish: (channel: string, message: string) => bench.redis.publish(channel, message),
    logger,
  } as unknown as QuestionDependencies);
  const common = { redis: bench.redis, logger, config: { jobLockMs: 30_000 }, guard: jobGuard(bench, name) };
  open.push(startQuestionWorker({ ...common, processor, queue: aheadQueue(BUILD), concurrency: 1 }));
}

/** @returns all that is saved, as text, and the number of comparisons of the fold itself */
async function fold(onCompare: () => Promise<void> | void = () => {}, waitMs = 60_000) {
  const questioner = createQuestioner(bench.redis, { logger, queue: aheadQueue(BUILD) });
  const queue = createJobProducer(bench.redis);
  open.push(questioner, queue);
  const workers = createWorkerRegistry(bench.redis);
  const ahead = await createComparisonsAhead({ ...bench, questioner, workers, queue, waitMs }).begin(BATCH, 0);
  const items = SCENES.map((_scene, i) => {
    const location = { from: 'file' as const, path: join(folder, `${i}.jpg`) };
    return { kind: 'image' as const, file: `${i}.jpg`, location, at: START + i * 310_000 };
  });
  const saved: string[] = [];
  const checkpoints: CheckpointStore = {
    load: async () => undefined,
    save: async ({ checkpoint, records, pictures, blobs }) => {
      const bytes = [...pictures.map((file) => [file.name, file.bytes] as const), ...blobs];
      const texts = bytes.map(([name, data]) => [name, Buffer.from(data).toString('base64')]);
      saved.push(JSON.stringify([storedCheckpoint(checkpoint), records, texts.sort()]));
    },
  };
  let alone = 0;
  const source = {
    ffmpeg: 'ffmpeg',
    ffmpegHwaccel: 'none' as const,
    videoPixelLimit: 1e6,
    frameLimit: 1e6,
    every: { mode: 'all' as const },
  };
  await runSequence(
    { camera: 'yard', items, range: { from: START, until: Number.POSITIVE_INFINITY }, endsAt: 0, gapMs: 600_000 },
    recordedCamera('yard', checkSettings({ before: 'memory' })),
    {
      ...{ ahead, checkpoints, decodeLimits: { pixelLimit: 1e6 } },
      pipeline: pipelineOf(() => {
        alone++;
        return onCompare();
      }),
      source: { ...source, materialize: localFiles(folder, undefined) },
    },
    new AbortController().signal,
  );
  ahead.end();
  return { saved, alone };
}

it('four workers compare at a time, and give the bytes of one', async () => {
  const one = await fold();
  expect(one.alone).toBe(SCENES.length - 1);
  const names = ['a', 'b', 'c', 'd'];
  const busy = new Set<string>();
  const { promise: allAreBusy, resolve } = promiseOf();
  for (const name of names) {
    await helper(name, () => {
      if (busy.add(name).size === names.length) resolve();
      return allAreBusy;
    });
  }
  const four = await fold(() => allAreBusy);
  expect(four.saved).toEqual(one.saved);
  expect(four.alone).toBeLessThanOrEqual(one.alone - names.length);
});

it('a worker that never answers costs a wait, and no byte', async () => {
  const one = await fold();
  const { promise: isHanging, resolve: hang } = promiseOf();
  const { promise: isOver, resolve: end } = promiseOf();
  await helper('hangs', () => {
    hang();
    return isOver;
  });
  const { saved } = await fold(() => isHanging, 500);
  await isHanging;
  end();
  expect(saved).toEqual(one.saved);
});

it('frames are stored while they are compared, and those of a dead worker are swept', async () => {
  const left = `batches/${BATCH}/ahead/0/left`;
  await bench.blobs.put(left, Buffer.from('left'));
  let stored = 0;
  const names = () => readdir(join(bench.folder, 'batches', BATCH, 'ahead', '0'));
  const { promise: isAsked, resolve } = promiseOf();
  await helper('a', async () => {
    stored = (await names()).length;
    resolve();
  });
  await fold(() => isAsked);
  expect(stored).toBeGreaterThan(2);
  await eventually(async () => expect(await names()).toEqual(['left']));
  await sweepAhead({ id: BATCH }, bench.blobs);
  expect(await bench.blobs.get(left)).toBeUndefined();
});
