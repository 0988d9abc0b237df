/** Acceptance of a camera's frame on a real Redis. */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { newId } from '../../src/base/ids.js';
import { enqueueFrame } from '../../src/jobs/enqueue-frame.js';
import { createJobProducer, type JobProducer } from '../../src/jobs/producer.js';
import { setUpCamera } from '../helpers/cameras.js';
import { eventually } from '../helpers/eventually.js';
import { type Bench, setUpBench } from '../helpers/workers.js';

let bench: Bench;
let queue: JobProducer;
let monitor: Socket;
const seen: string[] = [];
beforeAll(async () => {
  bench = await setUpBench();
  queue = createJobProducer(bench.redis);
  // Not by ioredis, whose monitor fails if a command of another client arrives together with the reply to MONITOR.
  monitor = createConnection(bench.redis.options.path ?? '');
  monitor.write('MONITOR\r\n');
  const lines = createInterface(monitor);
  await once(lines, 'line');
  lines.on('line', (line) => {
    // Not the commands that a script runs, whose client is "lua".
    if (/^\+[\d.]+ \[\d+ unix:[^\]]*\] "eval(sha)?"/i.test(line)) seen.push(line);
  });
});
afterAll(async () => {
  monitor.destroy();
  await queue.close();
  await bench.stop();
});

const accepted = () => ({
  comparisonId: newId('cmp'),
  traceId: '0'.repeat(32),
  apiKeyId: 'key_test',
  owner: 'key_test',
  frame: { from: 'stored', sha256: '0'.repeat(64), bytes: 1, contentType: 'image/png' } as const,
  capturedAt: 1_000,
  acceptedAt: Date.now(),
  deadline: null,
  callbackUrl: null,
});

it('creates comparison and waiting frame in one step, and sends the turn with it, which Redis gets second', async () => {
  const camera = await setUpCamera(bench, 'gate');
  const writes = [/"sd:events" "sd:cmp:.* "sd:cam:gate:frames"/, /"sd:q:comparisons/];
  const seenAt = () => writes.map((pattern) => seen.findIndex((command) => pattern.test(command)));
  // The scripts are known to Redis after the first frame. The monitor has a connection of its own, which may be behind.
  await enqueueFrame(camera, accepted(), { ...bench, queue });
  await eventually(() => expect(seenAt()).not.toContain(-1));
  seen.length = 0;
  let replies = 0;
  const begun: number[] = [];
  const noting =
    <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> => {
      begun.push(replies);
      return write(...args).finally(() => replies++);
    };
  const second = accepted();
  await enqueueFrame(camera, second, {
    results: { ...bench.results, create: noting(bench.results.create) },
    queue: { addTurn: noting(queue.addTurn) },
  });
  expect(begun).toEqual([0, 0]);
  await eventually(() => expect(seenAt()).toEqual([0, 1]));
  expect(await bench.cameras.waitingFrames('gate')).toBe(2);
});

it('leaves nothing of a frame whose camera has been erased', async () => {
  const camera = await setUpCamera(bench, 'gone');
  await bench.cameras.erase('gone');
  const frame = accepted();
  await expect(enqueueFrame(camera, frame, { ...bench, queue })).rejects.toMatchObject({ code: 'not-found' });
  expect(await bench.results.get(frame.comparisonId)).toBeUndefined();
  expect(await bench.cameras.waitingFrames('gone')).toBe(0);
});
