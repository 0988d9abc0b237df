/** Questions of the API to a worker, over a real Redis. */
import type { Redis } from 'ioredis';
import { createJobGuard } from '../../src/jobs/job-guard.js';
import { createQuestioner } from '../../src/jobs/questioner.js';
import type { QueueWorkers } from '../../src/jobs/run-jobs.js';
import { createLogger } from '../../src/logger.js';
import { connectRedis } from '../../src/stores/redis.js';
import { createRunStore } from '../../src/stores/runs.js';
import { createQuestionProcessor, type QuestionDependencies } from '../../src/workers/question-job.js';
import { startQuestionWorker } from '../../src/workers/question-worker.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';

const logger = createLogger({ level: 'silent', name: 'test' });
let server: TestRedis;
let redis: Redis;
const open: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis(server.url, { role: 'consumer', logger });
});
beforeEach(() => redis.flushall());
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const closing = <T extends { close(): Promise<void> }>(one: T): T => {
  open.push(one);
  return one;
};
const asker = (options: { waitMs?: number; mostWaiting?: number } = {}) =>
  closing(createQuestioner(redis, { logger, ...options }));
const VECTOR = { bundle: 'b'.repeat(64), least: 0.6 };
const notAsked = () => Promise.reject(new Error('not asked'));
const refusing = () => Promise.reject(new Error('not needed'));
function startWorker(embedTexts: QuestionDependencies['pipeline']['embedTexts']): QueueWorkers {
  const publish = (channel: string, message: string) => redis.publish(channel, message);
  const processor = createQuestionProcessor({
    pipeline: { embedTexts, ask: notAsked },
    ...{ results: { get: notAsked }, fetchFrame: notAsked, cameras: { maskOf: notAsked }, publish, logger },
  });
  const guard = createJobGuard({
    redis,
    blobs: { put: refusing, delete: refusing },
    runs: createRunStore(redis, 'w'),
    logger,
  });
  return closing(startQuestionWorker({ redis, logger, config: { jobLockMs: 30_000 }, guard, processor }));
}
const embed = (text: string) => ({ kind: 'embed', text }) as const;

describe('a question', () => {
  it('is answered by a worker, each process its own', async () => {
    startWorker(async ([text = '']) => ({ ...VECTOR, vectors: [Float32Array.of(text.length, 0.5)] }));
    const [one, two] = [asker(), asker()];
    const texts = ['', '\u{1F697} \u0000 "\'; DROP', 'x'.repeat(500)];
    const answers = await Promise.all([...texts.map((text) => one.ask(embed(text))), two.ask(embed('four'))]);
    expect(answers).toEqual([...texts, 'four'].map((text) => ({ ...VECTOR, values: [text.length, 0.5] })));
  });

  it('is answered with null if the bundle has no search vectors', async () => {
    startWorker(async () => undefined);
    expect(await asker().ask(embed('a car'))).toBeNull();
  });

  it('gets the error of the worker', async () => {
    startWorker(() => Promise.reject(new Error('broken graph')));
    await expect(asker().ask(embed('a car'))).rejects.toMatchObject({ code: 'internal' });
  });

  it('is withdrawn if no worker answers in time, and refused if too many wait', async () => {
    const busy = asker({ waitMs: 300, mostWaiting: 1 });
    const waiting = busy.ask(embed('a car'));
    await expect(busy.ask(embed('a van'))).rejects.toMatchObject({ code: 'overloaded' });
    await expect(waiting).rejects.toThrow('No worker answered within 0.3 s');
    expect(await redis.keys('sd:q:questions:????????-*')).toEqual([]);
  });
});
