/** Progress of a batch: its share, its frames, and the events about them. */
import { newId } from '../../src/base/ids.js';
import { progressReports } from '../../src/batches/reports.js';
import { NO_COUNTS } from '../../src/schemas/batch.js';
import type { BatchRequest } from '../../src/stores/batches/batch-request.js';
import type { BatchRecord } from '../../src/stores/batches/batches.js';
import { progressOf } from '../../src/stores/batches/progress.js';
import { matches, type StreamedEvent, streamed } from '../../src/stores/delivery/events.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();
const HOUR = 3_600_000;
const COUNTS = { ...NO_COUNTS, reached: null, frames: 1 };

/** A batch whose cameras a and b are processed. */
async function running(): Promise<string> {
  const id = newId('bat', Date.now());
  const request = { inputs: [], settings: { zones: [], alerts: {} }, mergeWindow: null } as unknown as BatchRequest;
  await bench.batches.create({ id, owner: 'local', createdAt: Date.now() - HOUR, request });
  const times = { starts_at: new Date(0).toISOString(), ends_at: new Date(HOUR).toISOString() };
  const cameras = ['a', 'b'].map((camera) => ({ camera, files: 1, frames_expected: 1_000, ...times }));
  await bench.batches.begin(id, { cameras, failures: [], warnings: [] });
  return id;
}
const commit = (id: string, camera: number) =>
  bench.batches.commit(id, camera, { chunk: 1, blob: 'x', checkpoint: '{}', progress: { ...COUNTS, done: true } });
const events = async (): Promise<StreamedEvent[]> => (await bench.redis.xrange(KEYS.events, '-', '+')).map(streamed);

it('the progress of a batch moves between its chunks, and a late report takes no finished camera back', async () => {
  const id = await running();
  const progressed = async () => (await bench.batches.get(id))?.progress.map((one) => one?.frames ?? 0);
  expect(await progressed()).toEqual([0, 0]);
  await bench.batches.report(id, 0, { ...COUNTS, frames: 7, done: false });
  expect(await progressed()).toEqual([7, 0]);
  await commit(id, 0);
  await bench.batches.report(id, 0, { ...COUNTS, frames: 9, done: false });
  expect((await bench.batches.get(id))?.progress[0]).toMatchObject({ frames: 1, done: true });
});

it('the first frame and each further percent of a camera move the share, the frames and the events of a batch', async () => {
  const id = await running();
  const batch = await bench.batches.get(id);
  const report = progressReports(batch as BatchRecord, 0, { ...bench, clock: Date.now });
  const reached = new Date(0).toISOString();
  const seen: (number | null)[][] = [];
  for (const frames of [1, 2, 9, 10, 11, 500]) {
    await report({ ...COUNTS, reached, frames, visits: 3, done: false });
    const { progress, ...shown } = progressOf((await bench.batches.get(id)) as BatchRecord);
    seen.push([progress, shown.frames, shown.frames_expected, shown.visits]);
  }
  expect(seen.map(([, ...counts]) => counts)).toEqual([1, 2, 9, 10, 11, 500].map((frames) => [frames, 2_000, 3]));
  expect(seen.map(([progress]) => progress)).toEqual([0.0005, 0.001, 0.0045, 0.005, 0.0055, 0.25]);
  await commit(id, 0);
  await commit(id, 1);
  await bench.batches.complete(id, Date.now());
  const announced = (await events()).map(({ event, owner }) => [
    event.type,
    event.data.frames,
    event.subject.id,
    owner,
  ]);
  expect(announced).toEqual([
    ...[1, 10, 500].map((frames) => ['batch.progress', frames, id, 'local']),
    ['batch.completed', 2, id, 'local'],
  ]);
  expect(matches((await events())[0] as StreamedEvent, { visibility: { owner: 'key_b', cameras: ['*'] } })).toBe(false);
  expect(matches((await events())[0] as StreamedEvent, { visibility: { owner: 'local', cameras: [] } })).toBe(true);
});
