import { describe, expect, it } from '@jest/globals';
import { checkSettings } from '../../src/camera/settings/settings.js';
import type { ListQuery } from '../../src/stores/comparisons/results.js';
import { seesCamera, type Visibility } from '../../src/stores/redis/visibility.js';
import { foundChange, opening, saveTurnChanges } from '../helpers/changes.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();

/** @returns all ids, and the length of each page; a cursor is followed to the end */
const pagesOf = async (query: ListQuery) => {
  const ids: string[] = [];
  const lengths: number[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await bench.results.list(cursor === undefined ? query : { ...query, cursor });
    ids.push(...page.items.map(({ id }) => id));
    lengths.push(page.items.length);
    if (page.nextCursor === null) return { ids, lengths };
    cursor = page.nextCursor;
  }
};

describe('The cameras of a key', () => {
  it.each([
    ['gate-3', 'gate-3', true],
    ['gate-3', 'gate-30', false],
    ['gate-*', 'gate-30', true],
    ['gate-*', 'gate', false],
    ['*', 'anything', true],
  ])('%s: %s is visible: %s', (pattern, camera, visible) => {
    expect(seesCamera({ owner: 'key_1', cameras: [pattern] }, camera)).toBe(visible);
  });
});

describe('Lists of a key', () => {
  /** 300 comparisons, of which every 50th belongs to 'police' and every 60th to the camera 'gate'. */
  const fill = async () => {
    const made = Array.from({ length: 300 }, (_none, i) =>
      acceptedComparison({
        createdAt: Date.now() - 1_000 + i,
        owner: i % 50 === 0 ? 'police' : 'others',
        camera: i % 60 === 0 ? 'gate' : 'yard',
      }),
    );
    await Promise.all(made.map((stored) => bench.results.create(stored)));
    const idsOf = (every: number[]) =>
      made.flatMap(({ comparison }, i) => (every.some((n) => i % n === 0) ? comparison.id : [])).reverse();
    return { made, idsOf };
  };

  it('have every visible comparison once, over pages of any size', async () => {
    const { idsOf } = await fill();
    const seen: [Visibility, number[]][] = [
      [{ owner: 'police', cameras: [] }, [50]],
      [{ owner: 'police', cameras: ['gate'] }, [50, 60]],
      [{ owner: 'nobody', cameras: ['ga*'] }, [60]],
      ['everything', [1]],
    ];
    for (const [visibility, every] of seen) {
      for (const limit of [1, 3, 100]) {
        const { ids, lengths } = await pagesOf({ visibility, limit });
        expect([visibility, limit, ids]).toEqual([visibility, limit, idsOf(every)]);
        expect(lengths.every((length) => length <= limit)).toBe(true);
      }
    }
  });

  it('can be filtered by camera and verdict as well', async () => {
    const { made, idsOf } = await fill();
    for (const { comparison } of made) await bench.results.update(comparison.id, { comparison: finished(comparison) });
    const visibility = { owner: 'police', cameras: [] };
    expect((await pagesOf({ visibility, limit: 10, verdict: 'change' })).ids).toEqual(idsOf([50]));
    expect((await pagesOf({ visibility, limit: 10, verdict: 'none' })).ids).toEqual([]);
    expect((await pagesOf({ visibility, limit: 10, camera: 'gate' })).ids).toEqual(idsOf([300]));
  });

  it('examine a bounded number of entries per page', async () => {
    const others = Array.from({ length: 1_500 }, (_none, i) =>
      acceptedComparison({ createdAt: Date.now() - 1_000 + i, owner: 'others' }),
    );
    await bench.results.create(acceptedComparison({ createdAt: Date.now() - 2_000, owner: 'police' }));
    await Promise.all(others.map((stored) => bench.results.create(stored)));
    const { ids, lengths } = await pagesOf({ visibility: { owner: 'police', cameras: ['gate'] }, limit: 20 });
    expect([ids.length, lengths.length > 1, lengths.length < 10]).toEqual([1, true, true]);
  });

  it('have the changes of its cameras only', async () => {
    const changes = ['gate', 'yard', 'gate'].map((camera, i) =>
      foundChange({ camera, name: String(i), confirmed: Date.now() + i }),
    );
    for (const change of changes)
      await saveTurnChanges(bench.redis, { camera: change.camera, changes: [opening(change)] });
    const seen = async (cameras: string[], query: { camera?: string } = {}) =>
      (await bench.changes.list({ limit: 5, visibility: { owner: 'o', cameras }, ...query })).items.map(({ id }) => id);
    expect(await seen(['gate'])).toEqual([changes[2]?.id, changes[0]?.id]);
    expect(await seen(['gate'], { camera: 'yard' })).toEqual([]);
    expect(await seen([])).toEqual([]);
  });
});

describe('Events', () => {
  it('carry the owner, and once finished the caption, the kind and the severity', async () => {
    const stored = acceptedComparison({ owner: 'police' });
    await bench.results.create(stored);
    await bench.results.update(stored.comparison.id, { comparison: finished(stored.comparison) });
    const entries = await bench.redis.xrange('sd:events', '-', '+');
    expect(entries.map(([, [, , , owner]]) => owner)).toEqual(['police', 'police']);
    const [queued, done] = entries.map(([, [, json = '']]) => JSON.parse(json));
    expect(queued).toMatchObject({ kind: null, severity: null, caption: null });
    expect(done).toMatchObject({ kind: 'appear', caption: 'a parcel appeared' });
    const change = foundChange({ caption: 'a car has appeared on the left' });
    await saveTurnChanges(bench.redis, { changes: [opening(change)] });
    const [last] = await bench.redis.xrevrange('sd:events', '+', '-', 'COUNT', 1);
    expect(JSON.parse(last?.[1][1] ?? '')).toMatchObject({ caption: change.caption, severity: 'medium' });
  });
});

describe('The open comparisons of an owner', () => {
  it('are counted until they end or are erased, also in a turn of a camera', async () => {
    const { results, cameras, turns } = bench;
    const [done, erased, open] = [1, 2, 3].map(() => acceptedComparison({ owner: 'police' }));
    const byTurn = acceptedComparison({ owner: 'police', camera: 'gate' });
    const all = [done, erased, open, byTurn].filter((stored) => stored !== undefined);
    for (const stored of all) await results.create(stored);
    await results.create(acceptedComparison({ owner: 'others' }));
    expect(await results.openOf('police')).toBe(4);
    const [first, second] = all.map(({ comparison }) => comparison);
    if (first !== undefined) await results.update(first.id, { comparison: finished(first) });
    await results.erase(second?.id ?? '');
    expect(await results.openOf('police')).toBe(2);
    await cameras.put(storedCamera('gate'));
    await cameras.addFrame('gate', byTurn.comparison.id, 1);
    const turn = await turns.take('gate', { job: '1', token: 'a', ttlMs: 60_000 });
    if (typeof turn === 'string') throw new Error(turn);
    await turns.commit(turn, { stored: { ...byTurn, comparison: finished(byTurn.comparison) } });
    expect([await results.openOf('police'), await results.openOf('others')]).toEqual([1, 1]);
  });
});

const storedCamera = (id: string) => ({
  id,
  settings: checkSettings({}),
  reference: null,
  mask: null,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
});
