import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { createLogger } from '../../src/process/logger.js';
import type { Delivery, DeliveryAttempt } from '../../src/schemas/delivery.js';
import { createDeliveryStore, type DeliveryStore, type NewDelivery } from '../../src/stores/delivery/deliveries.js';
import { connectRedis } from '../../src/stores/redis/redis.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';

const HOUR = 3_600_000;
const logger = createLogger({ level: 'silent', name: 'test' });
let server: TestRedis;
let redis: Redis;
let deliveries: DeliveryStore;

beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis(server.url, { role: 'consumer', logger });
  deliveries = createDeliveryStore(redis, { retentionMs: HOUR });
});
beforeEach(() => redis.flushall());
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const COMPARISON = 'cmp_00000000000000000000000001';
const created: NewDelivery = {
  id: 'dlv_00000000000000000000000001',
  comparison: COMPARISON,
  subject: { kind: 'comparison', id: COMPARISON },
  url: 'https://receiver.example/hook',
};
const delivery: Delivery = { ...created, state: 'pending', next_attempt_at: null, attempts: [] };
const attempt = (number: number, status: number | null): DeliveryAttempt => ({
  attempt: number,
  at: new Date(0).toISOString(),
  status,
  error: status === 200 ? null : 'the receiver answered 500, expected 2xx',
  duration_ms: 3,
});
const soon = () => new Date(Date.now() + HOUR).toISOString();

describe('a delivery', () => {
  it('is read as it was created, alone and by its comparison', async () => {
    await deliveries.create([created]);
    expect(await deliveries.get(delivery.id)).toEqual(delivery);
    expect(await deliveries.ofSubject(COMPARISON)).toEqual([delivery]);
    expect(await deliveries.ofSubject('cmp_00000000000000000000000002')).toEqual([]);
    expect(await deliveries.get('dlv_00000000000000000000000002')).toBeUndefined();
  });

  it('created again keeps its attempts and its state', async () => {
    await deliveries.create([created]);
    await deliveries.record(delivery.id, attempt(1, 200), 'delivered', null);
    await deliveries.create([created]);
    expect(await deliveries.get(delivery.id)).toMatchObject({
      state: 'delivered',
      attempts: [{ attempt: 1 }],
    });
  });

  it('logs its attempts in order, each once, with what comes next', async () => {
    await deliveries.create([created]);
    const next = soon();
    for (const number of [2, 10, 1, 2]) await deliveries.record(delivery.id, attempt(number, 500), 'pending', next);
    const read = await deliveries.get(delivery.id);
    expect(read?.attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 10]);
    expect(read).toMatchObject({ state: 'pending', next_attempt_at: next });
  });

  it('once delivered stays delivered', async () => {
    await deliveries.create([created]);
    await deliveries.record(delivery.id, attempt(1, 200), 'delivered', null);
    await deliveries.record(delivery.id, attempt(2, 500), 'failed', null);
    await deliveries.record(delivery.id, attempt(3, 500), 'pending', soon());
    expect(await deliveries.get(delivery.id)).toMatchObject({ state: 'delivered', next_attempt_at: null });
  });

  it('is overdue until it is final or its next attempt lies ahead', async () => {
    await deliveries.create([created]);
    const later = Date.now() + 1;
    expect(await deliveries.overdue(later, 10)).toEqual([delivery.id]);
    await deliveries.record(delivery.id, attempt(1, 500), 'pending', soon());
    expect(await deliveries.overdue(later, 10)).toEqual([]);
    expect(await deliveries.overdue(later + HOUR + 1000, 10)).toEqual([delivery.id]);
    await deliveries.record(delivery.id, attempt(2, 410), 'failed', null);
    expect(await deliveries.overdue(later + 2 * HOUR, 10)).toEqual([]);
  });

  it('that is created again after it was final is not overdue', async () => {
    await deliveries.create([created]);
    await deliveries.record(delivery.id, attempt(1, 200), 'delivered', null);
    await deliveries.create([created]);
    expect(await deliveries.overdue(Date.now() + HOUR, 10)).toEqual([]);
  });

  it('that never was created is not made by an attempt', async () => {
    await deliveries.record(delivery.id, attempt(1, 200), 'delivered', null);
    expect(await deliveries.get(delivery.id)).toBeUndefined();
  });
});
