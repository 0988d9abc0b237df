/** Changes and unseen spans of a camera's day, in a real Redis. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { UnseenSpan } from '../../src/camera/state/state.js';
import { createLogger } from '../../src/process/logger.js';
import type { FoundChange } from '../../src/schemas/change.js';
import { createCameraStore } from '../../src/stores/cameras/cameras.js';
import type { TurnChanges } from '../../src/stores/changes/change-writes.js';
import { createChangeStore } from '../../src/stores/changes/changes.js';
import { createDayStore } from '../../src/stores/changes/days.js';
import { UNSEEN_KEPT } from '../../src/stores/redis/keys.js';
import { connectRedis } from '../../src/stores/redis/redis.js';
import { foundChange, opening, saveTurnChanges } from '../helpers/changes.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';

const HOUR = 3_600_000;
const FROM = Date.parse('2026-01-05T00:00:00Z');
const DAY = { from: FROM, until: FROM + 24 * HOUR };
let server: TestRedis;
let redis: Redis;
let days: ReturnType<typeof createDayStore>;

beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis(server.url, { role: 'consumer', logger: createLogger({ level: 'silent', name: 'test' }) });
  days = createDayStore(redis);
});
beforeEach(() => redis.flushall());
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const save = (turn: Partial<TurnChanges>) => saveTurnChanges(redis, turn, { now: Date.now(), retentionMs: HOUR });
const iso = (hours: number) => new Date(FROM + hours * HOUR).toISOString();
/** A change of the camera "gate"; times in hours of the day, which may lie on other days. */
async function kept(name: string, first: number, end: number | null = null, confirmed = first): Promise<string> {
  const change: FoundChange = foundChange({ name, confirmed: FROM + confirmed * HOUR, first_seen: iso(first) });
  await save({ changes: [opening(change)] });
  if (end !== null) {
    const reverted = { ...change, status: 'reverted' as const, reverted_at: iso(end) };
    await save({ changes: [{ change: reverted, event: 'change.reverted' }] });
  }
  return change.id;
}
const read = async (limit = 100) => {
  const { changes, truncated } = await days.changesOf('gate', DAY, limit);
  return { ids: changes.map(({ id }) => id).sort(), truncated };
};

describe('the changes of a day', () => {
  it('are those that were there at some time of it, whenever they were confirmed', async () => {
    const there = [
      await kept('on the day', 8),
      await kept('came and left', 9, 10),
      await kept('from before, still there', -100),
      await kept('from before, left on the day', -50, 3),
      await kept('from before, left on a later day', -50, 60),
      await kept('confirmed a day later', 23, null, 30),
    ];
    await kept('left on the day before', -50, -2);
    await kept('of the next day', 25);
    await save({ changes: [opening(foundChange({ camera: 'yard', name: 'yard', confirmed: FROM + HOUR }))] });
    expect(await read()).toEqual({ ids: there.sort(), truncated: false });
  });

  it('are bounded, and say so', async () => {
    for (let i = 0; i < 5; i++) await kept(String(i), i);
    const { ids, truncated } = await read(3);
    expect([ids.length, truncated]).toEqual([3, true]);
    expect((await read(5)).truncated).toBe(false);
  });

  it('have feedback, and lack what has been erased', async () => {
    const changes = createChangeStore(redis, { retentionMs: HOUR });
    const [judged, erased] = [await kept('judged', 8), await kept('erased', 9, 10)];
    await changes.giveFeedback(judged, { judgement: 'false_alarm' });
    await changes.erase(erased);
    const found = await days.changesOf('gate', DAY, 10);
    expect(found.changes.map(({ id, feedback }) => [id, feedback?.judgement])).toEqual([[judged, 'false_alarm']]);
    expect(await redis.keys('sd:chgs:ended:*')).toEqual([]);
  });
});

describe('the unseen spans of a day', () => {
  const span = (from: number, until: number): UnseenSpan => ({
    ...{ reason: 'gap', from: FROM + from * HOUR, until: FROM + until * HOUR },
  });

  it('are those that overlap it, each once although a turn is repeated', async () => {
    const spans = [span(-3, -1), span(-1, 1), span(5, 6), span(20, 30), span(24, 25)];
    for (let i = 0; i < 2; i++) await save({ unseen: spans });
    expect(await days.unseenOf('gate', DAY)).toEqual(spans.slice(1, 4));
    expect(await days.unseenOf('yard', DAY)).toEqual([]);
  });

  it('are bounded, expire, and go with their camera', async () => {
    await save({ unseen: Array.from({ length: UNSEEN_KEPT + 5 }, (_, i) => span(i / 1000, (i + 1) / 1000)) });
    const found = await days.unseenOf('gate', DAY);
    expect([found.length, found[0]]).toEqual([UNSEEN_KEPT, span(5 / 1000, 6 / 1000)]);
    expect(await redis.pttl('sd:cam:gate:unseen')).toBeGreaterThan(HOUR);
    await createCameraStore(redis).erase('gate');
    expect(await days.unseenOf('gate', DAY)).toEqual([]);
  });
});
