/** Deliveries to endpoints on request (test, resend, recover), and those that a CloudEvents receiver must allow. */
import { describe, expect, it } from '@jest/globals';
import { createEnqueueDelivery, recoverEndpoint, resendDelivery } from '../../src/jobs/enqueue-delivery.js';
import { DELIVERY_SCHEDULE_MS } from '../../src/workers/deliveries/delivery-job.js';
import { foundChange, saveTurnChanges, storedAlert } from '../helpers/changes.js';
import { useEndpointDeliveries } from '../helpers/endpoint-deliveries.js';

const world = useEndpointDeliveries();
const { alert, bench, cameraEvents, one, queue, register, run, status } = world;

describe('A CloudEvents receiver', () => {
  it('is asked once whether it takes deliveries, and then gets them', async () => {
    await register({ format: 'cloudevents' }, '/ce', { authorization: 'Bearer t' });
    world.answer = ({ method }, response) =>
      response.writeHead(200, method === 'OPTIONS' ? { 'WebHook-Allowed-Origin': 'cameras.example' } : {}).end();
    await run(await one());
    await run(await one({}, { name: 'second' }));
    expect(world.receiver.received.map(({ method }) => method)).toEqual(['OPTIONS', 'POST', 'POST']);
    const [asked] = world.receiver.received;
    expect(asked?.headers).toMatchObject({ 'webhook-request-origin': 'cameras.example', authorization: 'Bearer t' });
  });

  it('that does not allow it gets nothing', async () => {
    await register({ format: 'cloudevents-binary' });
    status(200, { 'WebHook-Allowed-Origin': 'other.example' });
    const delivery = await one();
    expect(await run(delivery)).toMatchObject({ kind: 'later' });
    expect(world.receiver.received.map(({ method }) => method)).toEqual(['OPTIONS']);
    expect((await bench.deliveries.get(delivery))?.attempts[0]?.error).toBe(
      'the receiver answered OPTIONS with another WebHook-Allowed-Origin, expected cameras.example or *',
    );
  });

  it('that limits its rate gets no more', async () => {
    await register({ format: 'cloudevents' });
    status(200, { 'WebHook-Allowed-Origin': '*', 'WebHook-Allowed-Rate': '6' });
    expect(await run(await one())).toEqual({ kind: 'delivered' });
    const next = await run(await one({}, { name: 'second' }));
    expect(next).toMatchObject({ kind: 'later' });
    expect((next as { at: number }).at - world.now).toBeGreaterThan(5_000);
  });
});

describe('A delivery', () => {
  it('of a test event has an invented change, and no filter stops it', async () => {
    const { id } = await register({ cameras: ['nowhere'] });
    const record = await world.endpoints.get(id);
    if (record === undefined) throw new Error('it is stored');
    const delivery = await createEnqueueDelivery({ ...bench, endpoints: world.endpoints, queue }).ofTest(
      record,
      world.now,
    );
    expect(await run(delivery)).toEqual({ kind: 'delivered' });
    expect(JSON.parse(world.receiver.received[0]?.body ?? '')).toMatchObject({ type: 'endpoint.test' });
    expect((await bench.deliveries.ofEndpoint(id, { limit: 5 })).items.map((item) => item.id)).toEqual([delivery]);
  });

  it('is sent again on request, with the schedule before it and without another camera event', async () => {
    await register();
    const delivery = await one();
    await run(delivery);
    expect(await cameraEvents()).toEqual(['alert.delivered']);
    status(500);
    expect(await resendDelivery(delivery, { ...bench, queue })).toBe(true);
    expect(await run(delivery)).toEqual({ kind: 'later', at: world.now + DELIVERY_SCHEDULE_MS[1] });
    world.now += DELIVERY_SCHEDULE_MS[1];
    status(410);
    await run(delivery);
    expect((await bench.deliveries.get(delivery))?.attempts.map((attempt) => attempt.status)).toEqual([200, 500, 410]);
    expect(await cameraEvents()).toEqual(['alert.delivered']);
    expect(await resendDelivery(`dlv_${'0'.repeat(26)}`, { ...bench, queue })).toBe(false);
  });

  it('that failed, or was never made, is recovered; one that arrived is not', async () => {
    const endpoint = await register();
    const recovering = async () => {
      const record = await world.endpoints.get(endpoint.id);
      if (record === undefined) throw new Error('it is stored');
      world.queued = [];
      return recoverEndpoint(record, 0, { ...bench, queue });
    };
    await run(await one());
    await world.endpoints.update({ ...endpoint, settings: { ...endpoint.settings, enabled: false } }, { again: false });
    expect((await alert({}, { name: 'missed' })).ids).toEqual([]);
    await world.endpoints.update(endpoint, { again: true });
    status(410);
    const failed = await one({}, { name: 'failed' });
    await run(failed);
    await world.endpoints.update(endpoint, { again: true });
    status(200);
    expect(await recovering()).toEqual({ queued: 2 });
    expect(world.queued).toContain(failed);
    for (const id of world.queued) expect(await run(id)).toEqual({ kind: 'delivered' });
    expect(await recovering()).toEqual({ queued: 0 });
  });

  it('is recovered however many there are, in their order', async () => {
    const { id } = await register();
    const many = Array.from({ length: 1_234 }, (_, i) =>
      storedAlert(foundChange({ name: `thing ${i}` }), { url: null }),
    );
    for (let i = 0; i < many.length; i += 100) {
      const now = world.now + i;
      await saveTurnChanges(bench.redis, { alerts: many.slice(i, i + 100) }, { now });
    }
    const record = await world.endpoints.get(id);
    if (record === undefined) throw new Error('it is stored');
    expect(await recoverEndpoint(record, 0, { ...bench, queue })).toEqual({ queued: many.length });
    expect(new Set(world.queued).size).toBe(many.length);
    const first = await bench.deliveries.get(world.queued[0] ?? '');
    const last = await bench.deliveries.get(world.queued.at(-1) ?? '');
    const turnOf = (alert: string | undefined) =>
      Math.floor(many.findIndex(({ message }) => message.id === alert) / 100);
    expect([turnOf(first?.alert), turnOf(last?.alert)]).toEqual([0, 12]);
  });
});
