/** Evidence packages that are put into a bucket: an S3 server on loopback, which verifies signatures. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Evidence } from '../../src/api/evidence/collect.js';
import { createUploads } from '../../src/api/evidence/upload.js';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import { useEndpointDeliveries } from '../helpers/endpoint-deliveries.js';
import { KEY, storedEndpoint } from '../helpers/endpoints.js';
import { startS3, type TestS3 } from '../helpers/s3.js';

const world = useEndpointDeliveries();
const CHANGE = `chg_${'1'.repeat(26)}`;
const ZIP = Buffer.from('PK made of frames');
let s3: TestS3;
beforeAll(async () => {
  s3 = await startS3(0, 'google');
});
beforeEach(() => {
  s3.failWith(undefined);
  s3.objects.clear();
});
afterAll(() => s3.stop());

const register = async (format: 'bucket' | 'slack' = 'bucket') => {
  const authorization = `aws-sigv4 ${s3.accessKeyId}:${s3.secretAccessKey}:auto:s3`;
  const endpoint = storedEndpoint(`${s3.endpoint}/archive/evidence`, { format }, { authorization });
  await world.endpoints.create(endpoint);
  const record = await world.endpoints.get(endpoint.id);
  if (record === undefined) throw new Error('the endpoint is stored');
  return record;
};
const upload = async (endpoint: Awaited<ReturnType<typeof register>>, zip = Readable.from([ZIP])) => {
  const { bench, queue } = world;
  const enqueueDelivery = createEnqueueDelivery({ ...bench, endpoints: world.endpoints, queue });
  const uploads = createUploads({ ...bench, enqueueDelivery, loginKey: KEY, clock: () => world.now });
  const evidence = { subject: { change: CHANGE }, camera: { id: 'gate' } } as unknown as Evidence;
  return uploads(endpoint, { collect: async () => evidence, zip: async () => zip, apiKeyId: 'local' });
};

it('puts a package where its answer says, and tries again after a failure that is seen in the log', async () => {
  const endpoint = await register();
  s3.failWith(503, 'SlowDown');
  const { url, bytes, sha256, delivery } = await upload(endpoint);
  expect(url).toMatch(new RegExp(`^${s3.endpoint}/archive/evidence/evidence-${CHANGE}-\\d{8}T\\d{6}Z\\.zip$`));
  expect([bytes, sha256]).toEqual([ZIP.length, createHash('sha256').update(ZIP).digest('hex')]);
  expect(delivery).toMatchObject({ endpoint: endpoint.id, event: 'evidence.package', state: 'pending' });
  const id = delivery?.id ?? '';
  expect(world.queued).toEqual([id]);
  expect(await world.run(id)).toMatchObject({ kind: 'later' });
  const [logged] = (await world.bench.deliveries.ofEndpoint(endpoint.id, { limit: 5 })).items;
  expect(logged?.attempts[0]).toMatchObject({ status: 503, error: expect.stringContaining('SlowDown') });
  expect(JSON.stringify(logged)).not.toContain(s3.secretAccessKey);
  s3.failWith(undefined);
  world.now += 60_000;
  expect(await world.run(id)).toEqual({ kind: 'delivered' });
  expect(s3.objects.get(new URL(url).pathname.slice(1))?.bytes).toEqual(ZIP);
});

it('puts two packages of one change, and sends one again by request as long as it is stored', async () => {
  const endpoint = await register();
  const first = await upload(endpoint);
  world.now += 1_000;
  const second = await upload(endpoint);
  for (const { delivery } of [second, first])
    expect(await world.run(delivery?.id ?? '')).toEqual({ kind: 'delivered' });
  expect(s3.objects.size).toBe(2);
  const id = first.delivery?.id ?? '';
  await world.bench.deliveries.resend(id);
  expect(await world.run(id)).toEqual({ kind: 'delivered' });
  await world.bench.blobs.sweep('evidence', world.now + 60_000);
  await world.bench.deliveries.resend(id);
  expect(await world.run(id)).toEqual({ kind: 'failed' });
  expect((await world.bench.deliveries.get(id))?.attempts.at(-1)?.error).toContain('stored no more');
});

it('puts a small object as the test of a bucket', async () => {
  const endpoint = await register();
  const enqueue = createEnqueueDelivery({ ...world.bench, endpoints: world.endpoints, queue: world.queue });
  expect(await world.run(await enqueue.ofTest(endpoint, world.now))).toEqual({ kind: 'delivered' });
  const [name] = [...s3.objects.keys()];
  expect(name).toMatch(/^archive\/evidence\/scenedelta-test-.*\.json$/);
});

it('refuses an endpoint of another format, and a package that is too large', async () => {
  await expect(upload(await register('slack'))).rejects.toMatchObject({ code: 'invalid-value', field: 'endpoint' });
  const large = Readable.from(Array.from({ length: 65 }, () => Buffer.alloc(1024 * 1024)));
  await expect(upload(await register(), large)).rejects.toMatchObject({ code: 'invalid-value', field: 'until' });
  expect(world.queued).toEqual([]);
});
