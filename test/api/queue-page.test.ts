/** The page of the queues: off by default, for the scope admin, read only. */

import { createJobProducer } from '../../src/jobs/producer.js';
import { createLogger } from '../../src/process/logger.js';
import { connectRedis } from '../../src/stores/redis/redis.js';
import { fakeApp } from '../helpers/fake-app.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';

let server: TestRedis;
let redis: ReturnType<typeof connectRedis>;
let producer: ReturnType<typeof createJobProducer>;
let on: Awaited<ReturnType<typeof fakeApp>>;
let keys: Record<'admin' | 'compare', string>;

beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis(server.url, { role: 'producer', logger: createLogger({ level: 'silent', name: 'test' }) });
  await new Promise((resolve) => redis.once('ready', resolve));
  producer = createJobProducer(redis);
  await producer.addTurn('gate');
  on = await fakeApp({ auth: 'on', queuePage: true, publicUrl: 'https://host.example/cams' }, { queue: producer });
  const secretOf = async (scope: 'admin' | 'compare') =>
    (await on.apiKeys.create({ name: scope, scopes: [scope] })).secret;
  keys = { admin: await secretOf('admin'), compare: await secretOf('compare') };
});
afterAll(async () => {
  await on.app.close();
  await producer.close();
  redis.disconnect();
  await server.stop();
});

const ask = (url: string, key?: keyof typeof keys, method: 'GET' | 'PUT' | 'POST' | 'PATCH' = 'GET') =>
  on.app.inject({ url, method, headers: key === undefined ? {} : { authorization: `Bearer ${keys[key]}` } });

const JOB = '/v1/queues/queue/comparisons/1';
const QUEUES = '/v1/queues/api/queues?activeQueue=comparisons&status=waiting';

it('is not there unless QUEUE_PAGE is on', async () => {
  const off = await fakeApp();
  for (const url of ['/v1/queues', '/v1/queues/', QUEUES]) {
    expect((await off.app.inject({ url })).statusCode).toBe(404);
  }
  await off.app.close();
});

it.each(['/v1/queues/', JOB, QUEUES, '/v1/queues/static/images/logo.svg'])('%s needs the scope admin', async (url) => {
  expect([await ask(url), await ask(url, 'compare'), await ask(url, 'admin')].map((one) => one.statusCode)).toEqual([
    401, 403, 200,
  ]);
  expect((await ask(url, 'compare')).json().detail).toContain('expected admin');
});

it('shows the queues and their jobs', async () => {
  const { queues } = (await ask(QUEUES, 'admin')).json();
  expect(queues).toHaveLength(7);
  expect(queues).toContainEqual(
    expect.objectContaining({
      name: 'comparisons',
      readOnlyMode: true,
      jobs: [expect.objectContaining({ name: 'turn' })],
    }),
  );
});

it('has its scripts and styles from the service alone, by a policy that forbids others', async () => {
  const { headers, body } = await ask('/v1/queues/', 'admin');
  expect(headers['content-security-policy']).toContain("script-src 'self';");
  expect(body).toContain('<base href="/cams/v1/queues/"');
  expect(body).not.toMatch(/https?:\/\//);
  const files = [...body.matchAll(/(?:src|href)="(static\/[^"]+)"/g)].map(([, file]) => file);
  expect(files.length).toBeGreaterThan(2);
  for (const file of files) expect((await ask(`/v1/queues/${file}`, 'admin')).statusCode).toBe(200);
});

it.each([
  ['PUT', '/v1/queues/api/queues/comparisons/pause'],
  ['PUT', '/v1/queues/api/queues/pause'],
  ['POST', '/v1/queues/api/queues/comparisons/add'],
  ['PATCH', '/v1/queues/api/queues/comparisons/1/update-data'],
] as const)('refuses %s %s', async (method, url) => {
  const answer = await ask(url, 'admin', method);
  expect(answer.statusCode).toBe(405);
  expect(answer.json().type).toMatch(/method-not-allowed$/);
});

it('is no part of the description of the API', () => {
  expect(Object.keys((on.app.swagger() as { paths: object }).paths).filter((path) => path.includes('queues'))).toEqual(
    [],
  );
});
