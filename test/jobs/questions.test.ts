/** Questions of the API to a worker, over a real Redis. */
import type { Redis } from 'ioredis';
import sharp from 'sharp';
import type { PrivacyMask } from '../../src/base/privacy-mask.js';
import { createFrameFetcher } from '../../src/frames/fetch.js';
import { createJobGuard } from '../../src/jobs/job-guard.js';
import { createQuestioner } from '../../src/jobs/questioner.js';
import { QUESTION_QUEUE } from '../../src/jobs/queues.js';
import { type QueueWorkers, serveTable } from '../../src/jobs/run-jobs.js';
import { createOutboundClient } from '../../src/outbound/client.js';
import { createLogger } from '../../src/process/logger.js';
import { loginContext, sealLogin } from '../../src/secrets/login.js';
import { connectRedis } from '../../src/stores/redis/redis.js';
import { createRunStore } from '../../src/stores/redis/runs.js';
import { createQuestionProcessor, type QuestionDependencies, questionQueue } from '../../src/workers/question-job.js';
import { isBlackRight, square } from '../helpers/camera-api.js';
import { startLoginCamera } from '../helpers/login-camera.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';
import { jpeg } from '../helpers/requests.js';

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
const LOGIN_KEY = Buffer.alloc(32, 1);
function startWorker(
  embedTexts: QuestionDependencies['pipeline']['embedTexts'],
  given: Partial<Pick<QuestionDependencies, 'cameras' | 'tryFrame'>> = {},
): QueueWorkers {
  const publish = (channel: string, message: string) => redis.publish(channel, message);
  const processor = createQuestionProcessor({
    pipeline: { embedTexts, ask: notAsked },
    ...{ results: { get: notAsked }, fetchFrame: notAsked, cameras: { maskOf: notAsked }, publish, logger },
    ...{
      tryFrame: notAsked,
      snapshots: { now: notAsked },
      decodeLimits: { pixelLimit: 2e6 },
      loginKey: LOGIN_KEY,
      clock: () => 0,
      ...given,
    },
  });
  const guard = createJobGuard({
    redis,
    blobs: { put: refusing, delete: refusing },
    runs: createRunStore(redis, 'w'),
    logger,
  });
  return closing(
    serveTable(
      { [QUESTION_QUEUE]: questionQueue(processor, logger) },
      { redis, logger, guard, config: { jobLockMs: 30_000 } },
    ),
  );
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

describe('the question for the picture of an address', () => {
  const config = { outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: 5_000, frameLimit: 1e6, pixelLimit: 2e6 };
  const outbound = createOutboundClient(config);
  afterAll(() => outbound.close());
  const start = (mask: PrivacyMask | null) => {
    const blobs = { get: notAsked, put: async () => {} };
    const tryFrame = createFrameFetcher({ blobs, outbound, s3: undefined, config });
    startWorker(notAsked, { tryFrame, cameras: { maskOf: async () => mask } });
  };
  const question = async (url: string, password?: string) => {
    const context = loginContext('gate', url);
    const login = password === undefined ? {} : { login: sealLogin({ username: 'u', password }, LOGIN_KEY, context) };
    return asker().ask({ kind: 'snapshot', camera: 'gate', url, certificate: null, ...login }, 20_000);
  };

  it('is answered with its size, its time and a small picture with the privacy zones of the camera', async () => {
    const body = await jpeg(90, 1600, 900);
    const demand = { username: 'u', password: 'p', schemes: ['digest-md5'] } as const;
    const camera = closing(await startLoginCamera({ ...demand, body }));
    start({ id: 'm', polygons: [square(0.5, 1)] as never });
    const { picture, ...facts } = await question(`${camera.url}/snap.jpg`, 'p');
    expect(facts).toMatchObject({ at: '1970-01-01T00:00:00.000Z', width: 1600, height: 900 });
    const small = Buffer.from(picture, 'base64');
    expect(await sharp(small).metadata()).toMatchObject({ width: 480, height: 270 });
    expect(await isBlackRight(small)).toBe(true);
    await expect(question(`${camera.url}/snap.jpg`, 'wrong')).rejects.toMatchObject({
      code: 'url-failed',
      message: `${camera.url}/snap.jpg refused the user name or the password (401); it is asked again after five minutes`,
    });
    await expect(question('http://10.0.0.7/snap.jpg')).rejects.toMatchObject({
      code: 'url-refused',
      message: expect.stringContaining(
        '10.0.0.7 is a private address, expected a public address or one in OUTBOUND_ALLOW',
      ),
    });
  });
});
