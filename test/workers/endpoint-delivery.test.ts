/** Deliveries to endpoints: real receivers that misbehave, the state of the endpoint, and its other receivers. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { openSecrets, rotated, sealSecrets } from '../../src/endpoints/secrets.js';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import { readStatement } from '../../src/language/read-clauses.js';
import type { Statement } from '../../src/schemas/statement.js';
import { FAILING_LIMIT_MS } from '../../src/stores/delivery/endpoints.js';
import { DELIVERY_SCHEDULE_MS } from '../../src/workers/deliveries/delivery-job.js';
import { setUpCamera } from '../helpers/cameras.js';
import { foundChange, opening, saveTurnChanges } from '../helpers/changes.js';
import { TIMEOUT_MS, useEndpointDeliveries } from '../helpers/endpoint-deliveries.js';
import { KEY, SECRET, storedEndpoint } from '../helpers/endpoints.js';

const world = useEndpointDeliveries();
const { alert, bench, cameraEvents, events, one, queue, register, run, status } = world;

describe('An alert', () => {
  it('goes to each endpoint that wants it, signed with the secret of the endpoint', async () => {
    const endpoint = await register();
    await register({ cameras: ['yard'] });
    await register({ enabled: false });
    const { ids, stored } = await alert();
    expect(ids).toHaveLength(1);
    expect(await run(ids[0] ?? '')).toEqual({ kind: 'delivered' });
    const [{ body, headers, path } = { body: '', headers: {}, path: '' }] = world.receiver.received;
    expect(path).toBe('/hook?token=1');
    expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({ type: 'change.opened' });
    expect(await bench.deliveries.get(ids[0] ?? '')).toMatchObject({
      ...{ endpoint: endpoint.id, alert: stored.message.id, event: 'change.opened', state: 'delivered' },
      url: `${world.receiver.url}/...`,
    });
    expect((await world.endpoints.get(endpoint.id))?.lastDeliveredAt).toBe(new Date(world.now).toISOString());
  });

  it('is in the language of the endpoint, or else in that of the camera', async () => {
    await setUpCamera(bench, 'gate', { locale: 'de' });
    await register({ locale: 'fr', format: 'ntfy' }, '/topic');
    await register();
    const content = readStatement('a car has appeared') as Statement;
    const { ids } = await alert({ url: `${world.receiver.url}/callback` }, { caption: 'A car has appeared.', content });
    for (const id of ids) await run(id);
    const bodies = world.receiver.received.map(({ body }) => body);
    expect(bodies).toHaveLength(3);
    expect(bodies.filter((body) => body.includes('Une voiture est apparue.'))).toHaveLength(1);
    expect(bodies.filter((body) => body.includes('Ein Auto ist aufgetaucht.'))).toHaveLength(2);
  });

  it('has two valid signatures while the secret is rotated, and one after it', async () => {
    const endpoint = await register();
    const secret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
    const next = rotated(openSecrets(endpoint.id, endpoint.sealed, KEY), {
      secret,
      previousValidMs: 60_000,
      now: world.now,
    });
    await world.endpoints.saveSecrets(endpoint.id, sealSecrets(endpoint.id, next, KEY));
    await run(await one());
    const [first] = world.receiver.received;
    for (const valid of [SECRET, secret]) new Webhook(valid).verify(first?.body ?? '', first?.headers ?? {});
    world.now += 60_000;
    await run(await one({}, { name: 'later' }));
    expect(world.receiver.received[1]?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  });

  it('starts the cool-down of its camera with the first receiver that gets it', async () => {
    await register();
    const { ids } = await alert({ url: `${world.receiver.url}/callback` });
    expect(ids).toHaveLength(2);
    status(410);
    await run(ids[0] ?? '');
    expect(await cameraEvents()).toEqual([]);
    status(200);
    await run(ids[1] ?? '');
    expect(await cameraEvents()).toEqual(['alert.delivered']);
  });

  it('ends the cool-down only if no receiver gets it', async () => {
    await register();
    const { ids } = await alert({ url: `${world.receiver.url}/callback` });
    status(410);
    for (const id of ids) await run(id);
    expect(await cameraEvents()).toEqual(['alert.failed']);
  });

  it('of a person who acknowledges a change goes to the endpoints that want it', async () => {
    await register({ format: 'alertmanager' }, '');
    const change = foundChange({ alerted_at: new Date(world.now).toISOString() });
    await saveTurnChanges(bench.redis, { changes: [opening(change)] });
    const by = { traceId: '0'.repeat(32), apiKeyId: 'key' };
    const acknowledged = await bench.changes.acknowledge(change.id, by);
    if (acknowledged?.alert == null) throw new Error('an alert is made');
    await createEnqueueDelivery({ ...bench, endpoints: world.endpoints, queue }).ofAlert(acknowledged.alert);
    expect(await run(world.queued[0] ?? '')).toEqual({ kind: 'delivered' });
    expect(world.receiver.received[0]?.path).toBe('/api/v2/alerts');
    expect((await bench.changes.acknowledge(change.id, by))?.alert).toBeNull();
  });
});

describe('A receiver', () => {
  it.each([
    ['that answers 500', () => status(500), 500, 'the receiver answered 500, expected 2xx'],
    ['that redirects', () => status(302, { location: 'http://127.0.0.1:1/' }), 302, 'answered 302, expected 2xx'],
    ['that hangs', () => (world.answer = () => {}), null, `did not finish within ${TIMEOUT_MS} ms`],
    ['that is slow to answer in full', () => (world.answer = (_, response) => response.write('x')), 200, null],
  ])('%s', async (_what, behave, code, error) => {
    const { id } = await register();
    behave();
    const delivery = await one();
    expect(await run(delivery)).toMatchObject({ kind: error === null ? 'delivered' : 'later' });
    expect(world.receiver.received).toHaveLength(1);
    const [attempt] = (await bench.deliveries.get(delivery))?.attempts ?? [];
    expect(attempt?.status).toBe(code);
    expect(attempt?.error ?? '').toContain(error ?? '');
    expect((await world.endpoints.get(id))?.failingSince === null).toBe(error === null);
  });

  it('that answers 500 for a while gets the alert by the schedule, and is not failing any more', async () => {
    const { id } = await register();
    status(500);
    const delivery = await one();
    const first = await run(delivery);
    expect(first).toEqual({ kind: 'later', at: world.now + DELIVERY_SCHEDULE_MS[1] });
    expect((await world.endpoints.get(id))?.failingSince).toBe(new Date(world.now).toISOString());
    world.now += DELIVERY_SCHEDULE_MS[1];
    status(200);
    expect(await run(delivery)).toEqual({ kind: 'delivered' });
    expect(await world.endpoints.get(id)).toMatchObject({ failingSince: null, lastError: null, stopped: null });
  });

  it('that answers 410 is stopped at once, with an event, and gets nothing more', async () => {
    const { id } = await register();
    status(410);
    const [delivery, other] = [await one(), await one({}, { name: 'other' })];
    expect(await run(delivery)).toEqual({ kind: 'failed' });
    expect((await world.endpoints.get(id))?.stopped?.reason).toBe('gone');
    expect((await events()).filter(({ type }) => type === 'endpoint.disabled')).toMatchObject([
      { subject: { id }, data: { reason: 'gone', detail: expect.stringContaining('410') } },
    ]);
    expect(await run(other)).toEqual({ kind: 'failed' });
    expect(world.receiver.received).toHaveLength(1);
    expect((await alert({}, { name: 'third' })).ids).toEqual([]);
  });

  it('that fails for five days is stopped with an event, and not a moment before', async () => {
    const { id } = await register();
    status(503);
    await run(await one());
    world.now += FAILING_LIMIT_MS - 1;
    await run(await one({}, { name: 'second' }));
    expect((await world.endpoints.get(id))?.stopped).toBeNull();
    world.now += 1;
    await run(await one({}, { name: 'third' }));
    expect((await world.endpoints.get(id))?.stopped).toMatchObject({
      reason: 'failing',
      detail: 'every attempt has failed for 5 days; the last one: the receiver answered 503, expected 2xx',
    });
    expect((await events()).filter(({ type }) => type === 'endpoint.disabled')).toHaveLength(1);
  });

  it('that hangs with many alerts leaves room for the others', async () => {
    const hanging = await register();
    const open: ServerResponse[] = [];
    world.answer = ({ path }, response) => void (path === '/hook?token=1' ? open.push(response) : response.end());
    const stuck: Promise<unknown>[] = [];
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push(await one({}, { name: `thing ${i}` }));
    for (const id of ids.slice(0, 4)) stuck.push(run(id));
    await world.receiver.count(4);
    // The fifth takes no slot: it waits in the queue.
    expect(await run(ids[4] ?? '')).toMatchObject({ kind: 'later' });
    expect((await bench.deliveries.get(ids[4] ?? ''))?.attempts).toEqual([]);
    await world.endpoints.erase(hanging.id);
    await register({}, '/other');
    expect(await run(await one({}, { name: 'other' }))).toEqual({ kind: 'delivered' });
    for (const response of open) response.end();
    await Promise.all(stuck);
  });

  it('in a private range that is not allowed gets nothing, and its secret path is in no error', async () => {
    const endpoint = storedEndpoint('http://10.0.0.8/services/T0/B0/secret', { format: 'slack' });
    await world.endpoints.create(endpoint);
    const delivery = await one();
    expect(await run(delivery)).toEqual({ kind: 'failed' });
    const stored = await bench.deliveries.get(delivery);
    expect(stored?.attempts[0]?.error).toContain('10.0.0.8 is a private address');
    expect(JSON.stringify([stored, (await world.endpoints.get(endpoint.id))?.lastError])).not.toContain('secret');
  });
});
