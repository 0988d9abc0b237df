import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { deliveryIdOf } from '../../src/base/ids.js';
import { createLogger } from '../../src/process/logger.js';
import type { FoundChange } from '../../src/schemas/change.js';
import type { ChangeStatus } from '../../src/schemas/kinds.js';
import type { TurnChanges } from '../../src/stores/changes/change-writes.js';
import type { ChangeStore } from '../../src/stores/changes/changes.js';
import { createChangeStore } from '../../src/stores/changes/changes.js';
import { createDeliveryStore } from '../../src/stores/delivery/deliveries.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { connectRedis } from '../../src/stores/redis/redis.js';
import { changeEvent, foundChange, NOON, opening, saveTurnChanges, storedAlert } from '../helpers/changes.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';

const HOUR = 3_600_000;
const logger = createLogger({ level: 'silent', name: 'test' });
let server: TestRedis;
let redis: Redis;
let changes: ChangeStore;
let now = Date.now();

beforeAll(async () => {
  server = await startRedis();
  redis = connectRedis(server.url, { role: 'consumer', logger });
  changes = createChangeStore(redis, { retentionMs: HOUR, now: () => now });
});
beforeEach(async () => {
  await redis.flushall();
  now = Date.now();
});
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

const save = (turn: Partial<TurnChanges>) => saveTurnChanges(redis, turn, { now, retentionMs: HOUR });
const opened = async (...all: FoundChange[]) => save({ changes: all.map(opening) });
const ids = async (query: Partial<Parameters<ChangeStore['list']>[0]> = {}) =>
  (await changes.list({ limit: 10, ...query })).items.map(({ id }) => id);
const events = async () => {
  const entries = await redis.xrange(KEYS.events, '-', '+');
  return entries.map(([, fields]) => JSON.parse(fields[1] ?? ''));
};

describe('a change', () => {
  it('is read as written, without acknowledgement and feedback', async () => {
    const change = foundChange();
    await opened(change);
    expect(await changes.get(change.id)).toEqual({
      ...change,
      acknowledged_at: null,
      feedback: null,
    });
    expect(await changes.get(foundChange({ name: 'other' }).id)).toBeUndefined();
  });

  it('appends its events to the stream, and none if it was only seen again', async () => {
    const change = foundChange({ zone: 'door' });
    await opened(change);
    await save({ changes: [{ change: { ...change, status: 'persisting' }, event: null }] });
    expect(await events()).toEqual([changeEvent(change, 'change.opened', change.last_seen)]);
  });

  it('is listed by camera and current status, the latest confirmed first', async () => {
    const [first, second] = [
      foundChange({ name: '1' }),
      foundChange({ name: '2', confirmed: NOON + 1, camera: 'yard' }),
    ];
    await opened(first, second);
    const reverted = { ...first, status: 'reverted' as const, reverted_at: first.last_seen };
    await save({ changes: [{ change: reverted, event: 'change.reverted' }] });
    expect(await ids()).toEqual([second.id, first.id]);
    expect(await ids({ camera: 'gate' })).toEqual([first.id]);
    const under = async (status: ChangeStatus, camera?: string) =>
      ids({ status, ...(camera === undefined ? {} : { camera }) });
    expect([await under('opened'), await under('reverted'), await under('persisting')]).toEqual([
      [second.id],
      [first.id],
      [],
    ]);
    expect([await under('opened', 'gate'), await under('reverted', 'gate')]).toEqual([[], [first.id]]);
    expect(await ids({ since: NOON + 1 })).toEqual([second.id]);
    expect(await ids({ until: NOON + 1 })).toEqual([first.id]);
  });

  it('is on one page only, even if many are confirmed at the same time', async () => {
    const all = Array.from({ length: 7 }, (_, i) => foundChange({ name: String(i) }));
    await opened(...all);
    const seen: string[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page = await changes.list({ limit: 3, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect([...seen].sort()).toEqual(all.map(({ id }) => id).sort());
    expect(seen).toHaveLength(7);
  });
});

const BY = { traceId: '0'.repeat(32), apiKeyId: 'key_1' };

describe('an acknowledgement', () => {
  it('is visible at once, reaches the camera and the stream, and the first one counts', async () => {
    const change = foundChange();
    await opened(change);
    const acknowledged = await changes.acknowledge(change.id, BY);
    expect(acknowledged).toMatchObject({
      change: { status: 'acknowledged', acknowledged_at: new Date(now).toISOString() },
      alert: null,
    });
    now += 1_000;
    expect(await changes.acknowledge(change.id, BY)).toEqual(acknowledged);
    expect(await changes.cameraEvents('gate')).toEqual([{ type: 'change.acknowledged', changeId: change.id }]);
    expect((await events()).map(({ type }) => type)).toEqual(['change.opened', 'change.acknowledged']);
  });

  it('is withdrawn, which reaches the camera and the stream once', async () => {
    const change = foundChange();
    await opened(change);
    await changes.acknowledge(change.id, BY);
    for (let time = 0; time < 2; time++) {
      expect(await changes.withdrawAcknowledgement(change.id)).toMatchObject({
        status: 'opened',
        acknowledged_at: null,
      });
    }
    expect(await ids({ status: 'acknowledged' })).toEqual([]);
    expect((await changes.cameraEvents('gate')).map(({ type }) => type)).toEqual([
      ...['change.acknowledged', 'change.unacknowledged'],
    ]);
    expect((await events()).at(-1)).toMatchObject({ type: 'change.unacknowledged', subject: { id: change.id } });
    expect(await changes.withdrawAcknowledgement(foundChange({ name: 'other' }).id)).toBeUndefined();
  });

  it('is not overwritten by a turn that began before it', async () => {
    const change = foundChange();
    await opened(change);
    await changes.acknowledge(change.id, BY);
    await save({ changes: [{ change: { ...change, status: 'persisting' }, event: 'change.persisting' }] });
    expect((await changes.get(change.id))?.status).toBe('acknowledged');
    expect(await ids({ status: 'acknowledged' })).toEqual([change.id]);
    expect(await ids({ status: 'acknowledged', camera: 'gate' })).toEqual([change.id]);
    expect(await ids({ status: 'persisting' })).toEqual([]);
  });

  it.each([
    ['before', ['acknowledge', 'revert']],
    ['after', ['revert', 'acknowledge']],
  ])('given %s the end of the change leaves it reverted, and listed under both', async (_when, steps) => {
    const change = foundChange();
    await opened(change);
    const reverted = { ...change, status: 'reverted' as const, reverted_at: change.last_seen };
    for (const step of steps) {
      if (step === 'acknowledge') await changes.acknowledge(change.id, BY);
      else await save({ changes: [{ change: reverted, event: 'change.reverted' }] });
    }
    expect(await changes.get(change.id)).toMatchObject({
      status: 'reverted',
      reverted_at: change.last_seen,
      acknowledged_at: new Date(now).toISOString(),
    });
    const listed = await Promise.all(
      (['opened', 'reverted', 'acknowledged'] as const).map((status) => ids({ status, camera: 'gate' })),
    );
    expect(listed).toEqual([[], [change.id], [change.id]]);
  });

  it('of an unknown change has no effect', async () => {
    const { id } = foundChange();
    expect(await changes.acknowledge(id, BY)).toBeUndefined();
    expect(await changes.giveFeedback(id, { judgement: 'correct' })).toBeUndefined();
    expect(await redis.dbsize()).toBe(0);
  });
});

describe('feedback', () => {
  it('is stored with the change, the last one counts, and is listed by its time', async () => {
    const [first, second, silent] = ['1', '2', '3'].map((name) => foundChange({ name }));
    if (first === undefined || second === undefined || silent === undefined) throw new Error('three were made');
    await opened(first, second, silent);
    await changes.giveFeedback(first.id, { judgement: 'correct' });
    now += 1;
    await changes.giveFeedback(second.id, { judgement: 'false_alarm' });
    now += 1;
    const at = new Date(now).toISOString();
    const given = { judgement: 'correct' as const, caption: 'a van has appeared' };
    expect((await changes.giveFeedback(first.id, given))?.feedback).toEqual({ ...given, at });
    const page = await changes.withFeedback(0, 10);
    expect(page.items.map(({ id }) => id)).toEqual([second.id, first.id]);
    expect([page.last, (await changes.withFeedback(0, 2)).last, (await changes.withFeedback(2, 2)).last]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

it('feedback that is withdrawn is neither with the change nor in the list', async () => {
  const change = foundChange();
  await opened(change);
  await changes.giveFeedback(change.id, { judgement: 'false_alarm' });
  for (let time = 0; time < 2; time++) {
    expect(await changes.withdrawFeedback(change.id)).toMatchObject({ id: change.id, feedback: null });
  }
  expect((await changes.withFeedback(0, 10)).items).toEqual([]);
  expect(await changes.withdrawFeedback(foundChange({ name: 'other' }).id)).toBeUndefined();
});

it('changes are counted per span, of all cameras or of some', async () => {
  const at = (name: string, minutes: number, camera = 'gate') =>
    foundChange({ name, camera, confirmed: NOON + minutes * 60_000 });
  await opened(at('a', 0), at('b', 59), at('c', 60));
  await save({ camera: 'yard', changes: [opening(at('d', 61, 'yard'))] });
  const bounds = [0, 1, 2, 3].map((hour) => NOON + hour * HOUR);
  expect(await changes.counts(null, bounds)).toEqual([2, 2, 0]);
  expect(await changes.counts(['gate'], bounds)).toEqual([2, 1, 0]);
  expect(await changes.counts(['gate', 'yard', 'none'], bounds)).toEqual([2, 2, 0]);
});

describe('alerts', () => {
  it('are stored with all that their delivery needs, and are open from the start', async () => {
    const alert = storedAlert(foundChange());
    await save({ alerts: [alert] });
    expect(await changes.alert(alert.message.id)).toEqual(alert);
    const deliveries = createDeliveryStore(redis, { retentionMs: HOUR });
    expect(await deliveries.overdue(now + 1, 10)).toEqual([alert.message.id.replace('alr_', 'dlv_')]);
  });

  it('leave later camera events for the next turn', async () => {
    const [first, second] = [foundChange({ name: '1' }), foundChange({ name: '2' })];
    await opened(first, second);
    await changes.acknowledge(first.id, BY);
    const applied = (await changes.cameraEvents('gate')).length;
    await changes.acknowledge(second.id, BY);
    await save({ eventsApplied: applied });
    expect(await changes.cameraEvents('gate')).toEqual([{ type: 'change.acknowledged', changeId: second.id }]);
  });
});

describe('erasing', () => {
  it('finds changes by the time of their last write, and leaves nothing of them', async () => {
    const [old, young] = [foundChange({ name: 'old' }), foundChange({ name: 'young', camera: 'yard' })];
    await opened(old);
    await changes.acknowledge(old.id, BY);
    await changes.giveFeedback(old.id, { judgement: 'correct' });
    now += HOUR;
    await opened(young);
    expect(await changes.olderThan(now, 10)).toEqual([old.id]);
    expect([await changes.erase(old.id), await changes.erase(old.id)]).toEqual([true, false]);
    expect(await ids()).toEqual([young.id]);
    const left = await redis.keys('*');
    expect(
      left.filter((key) => key.includes('acknowledged') || key.includes('feedback') || key.includes(old.id)),
    ).toEqual([]);
  });

  it('of a change includes its alerts and their deliveries, pending ones as well', async () => {
    const deliveries = createDeliveryStore(redis, { retentionMs: HOUR });
    const change = foundChange();
    const [made, waiting] = [storedAlert(change), storedAlert(change, { id: `alr_${'0'.repeat(26)}` })];
    await save({ changes: [opening(change)], alerts: [made, waiting] });
    const { comparisonId: comparison, message } = made;
    const url = 'https://user.example/alerts';
    const toEndpoint = { id: `dlv_${'1'.repeat(26)}`, alert: message.id, endpoint: 'end_1' };
    await deliveries.create(
      [{ id: deliveryIdOf(message.id) }, toEndpoint].map((one) => ({
        ...one,
        comparison,
        subject: message.subject,
        url,
      })),
      message.id,
    );
    await changes.erase(change.id);
    // The endpoint's own list drops what it no longer finds.
    expect((await redis.keys('*')).sort()).toEqual([KEYS.deliveriesOf('end_1'), KEYS.events, KEYS.changeLog].sort());
  });

  it('of a camera includes its changes and events, and no others', async () => {
    const mine = Array.from({ length: 3 }, (_, i) => foundChange({ name: String(i) }));
    const other = foundChange({ name: 'other', camera: 'yard' });
    await opened(...mine, other);
    await changes.acknowledge(mine[0]?.id ?? '', BY);
    expect(await changes.eraseOf('gate')).toBe(3);
    expect(await ids()).toEqual([other.id]);
    expect(await changes.cameraEvents('gate')).toEqual([]);
  });
});
