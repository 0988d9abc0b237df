import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { checkSettings } from '../../src/camera/settings/settings.js';
import type { CameraState } from '../../src/camera/state/state.js';
import { initialCameraState } from '../../src/camera/state/state.js';
import type { Turn } from '../../src/stores/cameras/turns.js';
import type { StoredComparison } from '../../src/stores/comparisons/results.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { foundChange, NOON, opening } from '../helpers/changes.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { type Bench, setUpBench } from '../helpers/workers.js';

let bench: Bench;
beforeAll(async () => {
  bench = await setUpBench();
});
beforeEach(async () => {
  await bench.redis.flushall();
  await bench.cameras.put({
    id: 'gate',
    settings: checkSettings({}),
    reference: null,
    mask: null,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
  });
});
afterAll(() => bench.stop());

const TTL = 60_000;
let tokens = 0;
const take = (job: string, ttlMs = TTL) => bench.turns.take('gate', { job, token: `t${tokens++}`, ttlMs });
const taken = async (job: string): Promise<Turn> => {
  const turn = await take(job);
  if (typeof turn === 'string') throw new Error(`the turn is ${turn}`);
  return turn;
};
const enter = async (capturedAt: number): Promise<StoredComparison> => {
  const stored = acceptedComparison({ camera: 'gate' });
  await bench.results.create(stored);
  await bench.cameras.addFrame('gate', stored.comparison.id, capturedAt);
  return stored;
};
const state = (frames: number): CameraState => ({ ...initialCameraState(), frames });
const ended = (stored: StoredComparison): StoredComparison => ({
  ...stored,
  comparison: finished(stored.comparison),
});

describe("a camera's turn", () => {
  it('is empty if no frame waits or there is no such camera', async () => {
    expect(await take('1')).toBe('empty');
    expect(await bench.turns.take('nowhere', { job: '1', token: 't', ttlMs: TTL })).toBe('empty');
    expect(await bench.redis.exists(KEYS.cameraTurn('gate'))).toBe(0);
  });

  it('brings the frame that was captured first, in whatever order they came', async () => {
    await enter(3_000);
    const first = await enter(1_000);
    await enter(2_000);
    const { comparisonId } = await taken('1');
    expect(comparisonId).toBe(first.comparison.id);
  });

  it("brings the frame's comparison, the camera's state and its events, in one step", async () => {
    const frame = await enter(1_000);
    await bench.cameras.orderBaseline('gate', { type: 'baseline.reset' });
    expect(await taken('1')).toMatchObject({
      comparisonId: frame.comparison.id,
      tries: 1,
      state: undefined,
      stored: frame,
      events: [{ type: 'baseline.reset' }],
    });
    await bench.results.erase(frame.comparison.id);
    expect(await take('1')).toBe('empty');
    await bench.cameras.addFrame('gate', frame.comparison.id, 1_000);
    expect(await taken('1')).toMatchObject({ comparisonId: frame.comparison.id, stored: undefined });
  });

  it('is held by one job; the same job may take it again, and that is no failed try', async () => {
    await enter(1_000);
    await taken('1');
    expect(await take('2')).toBe('held');
    expect(await taken('1')).toMatchObject({ tries: 1 });
    // a job whose id begins with the same digits is another one
    expect(await take('11')).toBe('held');
  });

  it('saves nothing of a holder that has been replaced', async () => {
    const frame = await enter(1_000);
    const zombie = await taken('1');
    const heir = await taken('1');
    expect(await bench.turns.commit(zombie, { stored: ended(frame), state: state(1) })).toEqual({
      kind: 'lost',
      more: false,
    });
    expect(await bench.turns.renew(zombie, TTL)).toBe(false);
    expect(await bench.turns.release(zombie)).toBe('lost');
    expect(await bench.cameras.state('gate')).toBeUndefined();
    expect(await bench.turns.commit(heir, { stored: ended(frame), state: state(1) })).toEqual({
      kind: 'saved',
      more: false,
    });
  });

  it('saves comparison, state and changes in one step, and takes the frame out of the line', async () => {
    const frame = await enter(1_000);
    const turn = await taken('1');
    const change = foundChange();
    const changes = { camera: 'gate', changes: [opening(change)], alerts: [], eventsApplied: 0 };
    const stored = ended(frame);
    expect(await bench.turns.commit(turn, { stored, state: state(7), changes })).toEqual({
      kind: 'saved',
      more: false,
    });
    expect(await bench.results.get(frame.comparison.id)).toEqual(stored);
    expect(await bench.cameras.state('gate')).toEqual(state(7));
    expect(await bench.changes.get(change.id)).toMatchObject(change);
    expect((await bench.changes.list({ camera: 'gate', since: NOON, limit: 5 })).items).toHaveLength(1);
    expect(await bench.cameras.waitingFrames('gate')).toBe(0);
    expect(await bench.redis.exists(KEYS.cameraTries('gate'))).toBe(0);
    const { items } = await bench.results.list({ camera: 'gate', verdict: 'change', limit: 5 });
    expect(items).toEqual([stored.comparison]);
    expect(await bench.results.unfinished(Date.now() + 1_000, 10)).toEqual([]);
  });

  it('leaves what `update` would leave', async () => {
    const byTurn = acceptedComparison({
      camera: 'gate',
      createdAt: 1_800_000_000_000,
      callbackUrl: 'http://a/',
    });
    await bench.results.create(byTurn);
    await bench.cameras.addFrame('gate', byTurn.comparison.id, 1);
    await bench.turns.commit(await taken('1'), { stored: ended(byTurn) });
    const dump = async () => {
      const keys = (await bench.redis.keys('sd:*')).filter((key) => !key.startsWith('sd:cam') && key !== KEYS.events);
      const kept = keys.sort().map(async (key) => {
        const type = await bench.redis.type(key);
        if (type === 'hash') return [key, Object.keys(await bench.redis.hgetall(key)).sort()];
        return [key, await bench.redis.zrange(key, '0', '-1')];
      });
      return Promise.all(kept);
    };
    const turned = await dump();
    await bench.redis.flushall();
    await bench.results.create(byTurn);
    await bench.results.update(byTurn.comparison.id, { ...ended(byTurn) });
    expect(turned).toEqual(await dump());
  });

  it('passes over a comparison that was cancelled or erased meanwhile: no state, no changes', async () => {
    const cancelled = await enter(1_000);
    const turn = await taken('1');
    const comparison = { ...cancelled.comparison, status: 'cancelled' as const };
    await bench.results.update(cancelled.comparison.id, { comparison });
    const change = foundChange();
    const changes = { camera: 'gate', changes: [opening(change)], alerts: [], eventsApplied: 0 };
    expect(await bench.turns.commit(turn, { stored: ended(cancelled), state: state(1), changes })).toEqual({
      kind: 'final',
      more: false,
    });
    expect(await bench.cameras.state('gate')).toBeUndefined();
    expect(await bench.changes.get(change.id)).toBeUndefined();
    expect(await bench.cameras.waitingFrames('gate')).toBe(0);
  });

  it('of an erased camera can no longer be saved', async () => {
    const frame = await enter(1_000);
    const turn = await taken('1');
    await bench.cameras.erase('gate');
    expect(await bench.turns.commit(turn, { stored: ended(frame), state: state(1) })).toEqual({
      kind: 'lost',
      more: false,
    });
    expect(await bench.cameras.state('gate')).toBeUndefined();
    expect(await bench.redis.exists(KEYS.camera('gate'))).toBe(0);
  });

  it('is free after a commit unless frames wait, and is held by its job if they do', async () => {
    const first = await enter(1_000);
    const second = await enter(2_000);
    const turn = await taken('1');
    expect(await bench.turns.commit(turn, { stored: ended(first) })).toEqual({ kind: 'saved', more: true });
    expect(await take('2')).toBe('held');
    const next = await taken('1');
    expect(next.comparisonId).toBe(second.comparison.id);
    expect(await bench.turns.drop(next)).toEqual({ kind: 'final', more: false });
    expect(await bench.redis.exists(KEYS.cameraTurn('gate'))).toBe(0);
    expect(await take('1')).toBe('empty');
  });

  it('says when it is given back whether frames wait', async () => {
    await enter(1_000);
    expect(await bench.turns.release(await taken('1'))).toBe('more');
    const next = await taken('2');
    await bench.redis.del(KEYS.cameraFrames('gate'));
    expect(await bench.turns.release(next)).toBe('free');
  });

  it('is free again some time after its job has vanished', async () => {
    await enter(1_000);
    expect(typeof (await take('1', 50))).toBe('object');
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(await taken('2')).toMatchObject({ tries: 1 });
  });
});
