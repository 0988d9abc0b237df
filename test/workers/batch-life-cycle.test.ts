/** The life cycle of a batch over workers that die, steps that fail, and jobs that were lost. */
import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { presentBatch } from '../../src/api/batches/present.js';
import { ScenedeltaError } from '../../src/base/errors.js';
import { newId } from '../../src/base/ids.js';
import { type BatchDependencies, createBatchProcessor } from '../../src/batches/processor.js';
import { createBatchRecovery } from '../../src/batches/recovery.js';
import { storePlan } from '../../src/batches/stored-plan.js';
import type { FootageSequence } from '../../src/footage/inputs/recording-plan.js';
import { createJobProducer } from '../../src/jobs/producer.js';
import { NO_COUNTS } from '../../src/schemas/batch.js';
import type { BatchRequest } from '../../src/stores/batches/batch-request.js';
import { setUpCamera } from '../helpers/cameras.js';
import { logger, useBench } from '../helpers/workers.js';

const bench = useBench();
const HOUR = 3_600_000;
const CAMERA = {
  ...{ files: 1, frames_expected: 1_000 },
  ...{ starts_at: new Date(0).toISOString(), ends_at: new Date(HOUR).toISOString() },
};
const COUNTS = { ...NO_COUNTS, reached: null, frames: 1 };
const REQUEST = { inputs: [], settings: { zones: [], alerts: {} }, mergeWindow: null } as unknown as BatchRequest;

/** A batch whose cameras a and b are processed. */
async function running(): Promise<string> {
  const id = newId('bat', Date.now());
  await bench.batches.create({ id, owner: 'local', createdAt: Date.now() - HOUR, request: REQUEST });
  await bench.batches.begin(id, {
    cameras: ['a', 'b'].map((camera) => ({ camera, ...CAMERA })),
    failures: [],
    warnings: [],
  });
  return id;
}
const commit = async (id: string, camera: number, chunk: number, done = false) => {
  const blob = `batches/${id}/${camera}/chunks/${chunk}`;
  await bench.blobs.put(blob, Buffer.from(''));
  const checkpoint = JSON.stringify({ checkpoint: { chunk, done, counts: COUNTS }, blobs: [] });
  expect(await bench.batches.commit(id, camera, { chunk, blob, checkpoint, progress: { ...COUNTS, done } })).toBe(true);
};

const setUp = (changes: Partial<BatchDependencies> = {}) => {
  const queue = createJobProducer(bench.redis);
  const deps = { ...bench, queue, config: {}, logger, clock: Date.now, ...changes };
  const processor = createBatchProcessor(deps as unknown as BatchDependencies);
  const recovery = createBatchRecovery({ ...bench, queue, processor, clock: Date.now, logger }, 0);
  const step = (id: string, job: object, lastAttempt = false) =>
    processor.process({ v: 2, batchId: id, ...job }, { signal: new AbortController().signal, lastAttempt });
  const states = (...ids: string[]) => queue.states('batch', ids);
  return { queue, processor, recovery, step, states };
};
const statusOf = async (id: string) => (await bench.batches.get(id))?.status;

describe('the plan of a batch', () => {
  const lines = (...cameras: string[]) => {
    const at = '2026-06-01T12:00:00Z';
    return cameras.map((camera) => JSON.stringify({ file: `https://cam.example/${camera}.jpg`, camera, at }));
  };
  const planned = async (manifest: readonly string[], request: Partial<BatchRequest> = {}) => {
    const { step, queue } = setUp();
    const id = newId('bat', Date.now());
    const stream = Readable.from(Buffer.from(manifest.join('\n')));
    await bench.files.saveUpload(id, 1, stream, { maxBytes: 10_000, what: 'manifest' });
    const every = { mode: 'auto' } as const;
    const none = { template: null, camera: null, timeZone: null, start: null, since: null, until: null };
    const asked = { ...REQUEST, ...none, settings: { gap_s: 60 }, manifest: 1, every, ...request };
    await bench.batches.create({ id, owner: 'local', createdAt: Date.now(), request: asked as BatchRequest });
    await step(id, { step: 'plan' });
    await queue.close();
    const batch = await bench.batches.get(id);
    if (batch === undefined) throw new Error(`there is no batch ${id}`);
    return batch;
  };

  it('has the privacy zones of the cameras that its key may use, and of no others', async () => {
    const zone = {
      id: 'window',
      type: 'privacy',
      polygon: [
        [0, 0],
        [0.2, 0],
        [0.2, 0.2],
      ],
    };
    for (const id of ['gate', 'yard']) await setUpCamera(bench, id, { zones: [zone] });
    const masked = async (visibility: BatchRequest['visibility']) => {
      const { plan } = await planned(lines('gate', 'yard'), visibility === undefined ? {} : { visibility });
      return plan?.cameras.map(({ camera, privacy = [] }) => [camera, privacy.length]);
    };
    expect(await masked({ owner: 'key_a', cameras: ['yard'] })).toEqual([
      ['gate', 0],
      ['yard', 1],
    ]);
    expect(await masked({ owner: 'key_b', cameras: [] })).toEqual([
      ['gate', 0],
      ['yard', 0],
    ]);
    for (const all of ['everything', undefined] as const) {
      expect(await masked(all)).toEqual([
        ['gate', 1],
        ['yard', 1],
      ]);
    }
  });

  it('without anything to process fails it with every input that failed, and a retry plans again', async () => {
    const batch = await planned(['nonsense', '{}', '[]']);
    expect(batch).toMatchObject({
      status: 'failed',
      error: { detail: expect.stringContaining('3 inputs failed, the first of them line 1 of the manifest') },
    });
    expect(presentBatch(batch)).toMatchObject({
      failures: 3,
      failed_inputs: [1, 2, 3].map((line) => ({ file: `line ${line} of the manifest` })),
    });
    await bench.batches.retry(batch.id);
    expect(await statusOf(batch.id)).toBe('queued');
  });
});

it('a bucket that cannot be listed fails a batch at the first attempt, with its reason', async () => {
  const refused = new ScenedeltaError('url-failed', 's3://archive/ cannot be listed: the bucket does not exist');
  // biome-ignore lint/correctness/useYield: the listing fails before its first object
  const list = async function* () {
    throw refused;
  };
  const { step, queue } = setUp({ s3: { list } as never });
  const id = newId('bat', Date.now());
  const inputs = [{ from: 's3', bucket: 'archive', prefix: '' }] as const;
  await bench.batches.create({
    id,
    owner: 'local',
    createdAt: Date.now(),
    request: { ...REQUEST, inputs, manifest: null },
  });
  await step(id, { step: 'plan' });
  expect(await bench.batches.get(id)).toMatchObject({ status: 'failed', error: { detail: refused.message } });
  await queue.close();
});

describe('the last step of a batch', () => {
  it('takes up cameras that went on before their workers died, as often as they do', async () => {
    const { step, states, queue } = setUp();
    const id = await running();
    await commit(id, 0, 1, true);
    await commit(id, 1, 1);
    await step(id, { step: 'finish' });
    expect(await statusOf(id)).toBe('running');
    expect(await states(`${id}-camera-0-r1`, `${id}-camera-1-r1`, `${id}-finish-r1`)).toEqual([
      'absent',
      'held',
      'held',
    ]);
    await commit(id, 1, 2);
    await step(id, { step: 'finish', run: 1 });
    expect(await states(`${id}-camera-1-r2`, `${id}-finish-r2`)).toEqual(['held', 'held']);
    // The worker that began the second run died before its own job had ended.
    await step(id, { step: 'finish', run: 1 });
    expect(await bench.batches.get(id)).toMatchObject({ status: 'running', run: { number: 2, since: [1, 2] } });
    await queue.close();
  });

  it('fails the batch if a camera finished no chunk before its workers died', async () => {
    const { step, queue } = setUp();
    const id = await running();
    await commit(id, 0, 1, true);
    await step(id, { step: 'finish' });
    expect(await bench.batches.get(id)).toMatchObject({
      status: 'failed',
      error: { detail: expect.stringContaining('no chunk of frames') },
    });
    await queue.close();
  });
});

it('a chunk that another worker has committed first fails nothing: the job goes on from that chunk', async () => {
  const id = await running();
  const times = { range: { from: 0, until: HOUR }, endsAt: HOUR };
  await storePlan(id, 0, { camera: 'a', items: [], ...times } as unknown as FootageSequence, bench.blobs);
  const pipeline = { operatingPoints: () => [] } as never;
  const other = setUp({ pipeline });
  let isFirst = true;
  const slow = {
    ...bench.blobs,
    put: async (key: string, bytes: Uint8Array) => {
      // A worker that froze here has lost its job to another one.
      if (key.includes('/chunks/') && isFirst) {
        isFirst = false;
        expect(await other.step(id, { step: 'camera', camera: 0 })).toBe('done');
      }
      await bench.blobs.put(key, bytes);
    },
  };
  const { step, queue } = setUp({ blobs: slow, pipeline });
  expect(await step(id, { step: 'camera', camera: 0 })).toBe('done');
  expect(await bench.batches.get(id)).toMatchObject({ status: 'running', chunks: [1, 0], error: null });
  await Promise.all([queue.close(), other.queue.close()]);
});

describe('an error at every attempt', () => {
  const failing = {
    ...{ put: async () => {}, delete: async () => {}, sweep: async () => 0 },
    async get(): Promise<never> {
      throw new ScenedeltaError('internal', 'the disk is odd');
    },
  };

  it('is tried again, and fails a batch that did not go on, with its reason', async () => {
    const { step, queue } = setUp({ blobs: failing });
    const id = await running();
    await expect(step(id, { step: 'camera', camera: 0 })).rejects.toThrow('the disk is odd');
    expect(await statusOf(id)).toBe('running');
    await step(id, { step: 'camera', camera: 0 }, true);
    expect(await bench.batches.get(id)).toMatchObject({ status: 'failed', error: { detail: 'the disk is odd' } });
    await queue.close();
  });

  it('of a store that refuses is no failure of the batch', async () => {
    const full = { ...failing, get: () => Promise.reject(new ScenedeltaError('storage-unavailable', 'full')) };
    const { step, queue } = setUp({ blobs: full });
    const id = await running();
    await expect(step(id, { step: 'camera', camera: 0 }, true)).rejects.toThrow('full');
    expect(await statusOf(id)).toBe('running');
    await queue.close();
  });

  it('leaves a camera that went on to the next run', async () => {
    const { step, queue } = setUp({ blobs: failing });
    const id = await running();
    await commit(id, 0, 1);
    await step(id, { step: 'camera', camera: 0 }, true);
    expect(await statusOf(id)).toBe('running');
    await queue.close();
  });
});

it('copies that killed workers left are removed, and uploads stay', async () => {
  const id = newId('bat', Date.now());
  const limits = { maxBytes: 10, what: 'x' };
  await bench.files.saveUpload(id, 1, Readable.from(Buffer.from('x')), limits);
  const copy = bench.files.copyOf(id);
  await bench.files.saveCopy(copy, Readable.from(Buffer.from('x')), limits);
  await bench.files.removeCopies(id);
  expect([existsSync(copy), existsSync(bench.files.uploadOf(id, 1))]).toEqual([false, true]);
});

describe('recovery', () => {
  it('queues a batch that the API stored before it died, and one whose plan has no jobs, once', async () => {
    const { recovery, states, queue } = setUp();
    const queued = newId('bat', Date.now());
    await bench.batches.create({ id: queued, owner: 'local', createdAt: Date.now() - HOUR, request: REQUEST });
    const planned = await running();
    expect(await recovery()).toBe(2);
    expect(await states(`${queued}-plan`, `${planned}-camera-1`, `${planned}-finish`)).toEqual([
      'held',
      'held',
      'held',
    ]);
    expect(await recovery()).toBe(0);
    await queue.close();
  });

  it('leaves batches alone that have ended', async () => {
    const { recovery, queue } = setUp();
    const id = await running();
    await bench.batches.cancel(id, Date.now());
    expect(await recovery()).toBe(0);
    await queue.close();
  });
});
