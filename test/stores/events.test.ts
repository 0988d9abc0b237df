import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { createLogger } from '../../src/process/logger.js';
import { createResultStore, type ResultStore } from '../../src/stores/comparisons/results.js';
import {
  compareEventIds,
  createEventReader,
  EVENT_ID_PATTERN,
  type EventReader,
  type StreamedEvent,
} from '../../src/stores/delivery/events.js';
import { connectRedis } from '../../src/stores/redis/redis.js';
import { createWorkerRegistry, HEARTBEAT_MS } from '../../src/stores/redis/workers.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { eventually } from '../helpers/eventually.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';

const logger = createLogger({ level: 'silent', name: 'test' });
let server: TestRedis;
let redis: Redis;
let results: ResultStore;
let reader: EventReader;
let heard: StreamedEvent[];

beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis(server.url, { role: 'consumer', logger });
  results = createResultStore(redis, { retentionMs: 3_600_000 });
});
beforeEach(async () => {
  await redis.flushall();
  heard = [];
  reader = createEventReader(redis);
  reader.on((streamed) => heard.push(streamed));
});
afterEach(() => reader.close());
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const comparisonOf = (streamed: StreamedEvent | undefined) => streamed?.event.subject.id;

/** Creates comparisons until the reader receives one: from then on it receives all. */
const connected = async () => {
  await eventually(async () => {
    await results.create(acceptedComparison());
    expect(heard.length).toBeGreaterThan(0);
  });
  const { comparison, ...rest } = acceptedComparison();
  await results.create({ comparison, ...rest });
  await eventually(() => expect(comparisonOf(heard.at(-1))).toBe(comparison.id));
  heard.length = 0;
};

describe('the event reader', () => {
  it('receives the events of a comparison in order, with the fields that a filter needs', async () => {
    await connected();
    const accepted = acceptedComparison({ camera: 'gate' });
    await results.create(accepted);
    await results.update(accepted.comparison.id, {
      comparison: { ...accepted.comparison, status: 'running' },
    });
    await results.update(accepted.comparison.id, { comparison: finished(accepted.comparison) });
    await eventually(() => expect(heard).toHaveLength(3));
    expect(heard.map(({ event }) => event.type)).toEqual([
      'comparison.queued',
      'comparison.running',
      'comparison.finished',
    ]);
    expect(heard[2]?.event).toMatchObject({
      subject: { kind: 'comparison', id: accepted.comparison.id },
      camera: 'gate',
      data: { verdict: 'change' },
    });
  });

  it('receives the events around an outage of Redis once and in order', async () => {
    await connected();
    const made = Array.from({ length: 20 }, () => acceptedComparison());
    for (const accepted of made.slice(0, 10)) await results.create(accepted);
    await server.kill9();
    const late = Promise.all(made.slice(10).map((accepted) => results.create(accepted)));
    await server.restart();
    await late;
    await eventually(() => expect(heard.length).toBeGreaterThanOrEqual(20));
    expect(heard.map(comparisonOf)).toEqual(made.map(({ comparison }) => comparison.id));
  });

  it('continues after one listener threw or unsubscribed', async () => {
    await connected();
    reader.on(() => {
      throw new Error('a bug');
    });
    const left: StreamedEvent[] = [];
    const leave = reader.on((streamed) => left.push(streamed));
    leave();
    await results.create(acceptedComparison());
    await results.create(acceptedComparison());
    await eventually(() => expect(heard).toHaveLength(2));
    expect(left).toEqual([]);
  });

  it('reads together what is written without a listener, and passes it on to the next listener', async () => {
    const unheard = createEventReader(redis);
    const reads = async () => Number(/cmdstat_xread:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
    try {
      await connected();
      await reader.close();
      const before = await reads();
      const made = Array.from({ length: 50 }, () => acceptedComparison());
      for (const accepted of made) await results.create(accepted);
      expect((await reads()) - before).toBeLessThan(10);
      const late: StreamedEvent[] = [];
      unheard.on((streamed) => late.push(streamed));
      const last = acceptedComparison();
      await results.create(last);
      await eventually(() => expect(comparisonOf(late.at(-1))).toBe(last.comparison.id));
    } finally {
      await unheard.close();
    }
  });

  it('resumes after an id without it, filtered', async () => {
    const made = ['gate', 'yard', 'gate'].map((camera) => acceptedComparison({ camera }));
    for (const accepted of made) await results.create(accepted);
    const all = await reader.read('0');
    expect(all.map(comparisonOf)).toEqual(made.map(({ comparison }) => comparison.id));
    expect(await reader.read(all[0]?.id ?? '')).toEqual(all.slice(1));
    expect(await reader.read('0', { camera: 'gate' })).toEqual([all[0], all[2]]);
    const id = made[1]?.comparison.id ?? '';
    expect(await reader.read('0', { comparisonId: id })).toEqual([all[1]]);
    expect(await reader.read(all[2]?.id ?? '')).toEqual([]);
  });

  it('closes while it blocks', async () => {
    await connected();
    await reader.close();
    await reader.close();
  });

  const openTimers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  // A command that waits for Redis outlives the limit of these tests, or never ends.
  const LIMIT_MS = 4_000;
  it(
    'closes while Redis is away, and what it waited for with it',
    async () => {
      await connected();
      await server.kill9();
      await reader.close();
      await server.restart();
    },
    LIMIT_MS,
  );

  it(
    'closes before Redis was there for the first time',
    async () => {
      await connected();
      const before = openTimers();
      const away = connectRedis('unix:///nonexistent/redis.sock', { role: 'producer', logger });
      const early = createEventReader(away);
      // its first attempt failed: from now on it waits for the next one
      await new Promise((resolve) => away.once('reconnecting', resolve));
      await early.close();
      await early.close();
      away.disconnect();
      // ioredis would keep the process for two seconds.
      await eventually(() => expect(openTimers()).toBe(before), 1_000);
    },
    LIMIT_MS,
  );
});

describe('event ids', () => {
  it('compare by time, then by sequence, as numbers', () => {
    expect(['10-2', '9-1', '10-10', '10-1'].sort(compareEventIds)).toEqual(['9-1', '10-1', '10-2', '10-10']);
  });
  it.each([
    ['1763750000000-0', true],
    ['0', true],
    ['', false],
    ['$', false],
    ['+', false],
    ['1-2-3', false],
    ['(1-1', false],
  ])('%j is one: %j', (text, expected) => expect(new RegExp(EVENT_ID_PATTERN).test(text)).toBe(expected));
});

describe('the registry of workers', () => {
  const worker = (id: string, startedAt: string) => ({
    id,
    host: 'h',
    pid: 1,
    started_at: startedAt,
    models: [],
  });

  it('lists the live workers, and drops a worker that leaves or sends no heartbeat', async () => {
    const registry = createWorkerRegistry(redis);
    const [a, b, c] = ['1', '2', '3'].map((n) => worker(n, `2026-01-0${n}T00:00:00Z`));
    if (a === undefined || b === undefined || c === undefined) throw new Error('three were made');
    for (const each of [c, a, b]) await registry.beat(each);
    expect(await registry.list()).toEqual([a, b, c]);
    await registry.leave(a.id);
    await redis.del('sd:worker:2'); // as its expiry does
    expect(await registry.list()).toEqual([c]);
    expect(await redis.smembers('sd:workers')).toEqual(['3']);
    expect(await redis.pttl('sd:worker:3')).toBeGreaterThan(HEARTBEAT_MS);
  });
});
