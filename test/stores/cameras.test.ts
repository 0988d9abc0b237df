import { describe, expect, it } from '@jest/globals';
import type { StoredCamera } from '../../src/camera/settings/camera.js';
import { checkSettings } from '../../src/camera/settings/settings.js';
import type { CameraQuery } from '../../src/stores/cameras/cameras.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { createRunStore } from '../../src/stores/redis/runs.js';
import { eventually } from '../helpers/eventually.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();

const camera = (id: string, change: Partial<StoredCamera> = {}): StoredCamera => ({
  id,
  settings: checkSettings({}),
  reference: null,
  mask: null,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
  ...change,
});

describe('cameras in Redis', () => {
  it('are read as written, and put reports only the first write as new', async () => {
    expect(await bench.cameras.put(camera('a'))).toBe(true);
    expect(await bench.cameras.put(camera('a', { mask: 'msk_1' }))).toBe(false);
    expect(await bench.cameras.get('a')).toEqual(camera('a', { mask: 'msk_1' }));
    expect(await bench.cameras.get('b')).toBeUndefined();
  });

  it('are listed by id, page by page', async () => {
    for (const id of ['b', 'A', 'a.1', 'a-2', 'z']) await bench.cameras.put(camera(id));
    const page = async (query: CameraQuery) => {
      const { items, nextCursor } = await bench.cameras.list(query);
      return [items.map(({ id }) => id), nextCursor];
    };
    expect(await page({ limit: 3 })).toEqual([['A', 'a-2', 'a.1'], 'a.1']);
    expect(await page({ limit: 3, cursor: 'a.1' })).toEqual([['b', 'z'], null]);
    expect(await page({ limit: 3, cursor: 'z' })).toEqual([[], null]);
    const visibility = { owner: 'key_1', cameras: ['a*', 'z'] };
    expect(await page({ limit: 2, visibility })).toEqual([['a-2', 'a.1'], 'a.1']);
    expect(await page({ limit: 2, cursor: 'a.1', visibility })).toEqual([['z'], null]);
  });

  it('have a mask only with privacy zones', async () => {
    const polygon = [
      [0, 0],
      [1, 0],
      [1, 1],
    ];
    const settings = checkSettings({
      zones: [
        { id: 'p', type: 'privacy', polygon },
        { id: 'i', type: 'include', polygon },
      ],
    });
    await bench.cameras.put(camera('masked', { settings, mask: 'msk_1' }));
    await bench.cameras.put(camera('open'));
    expect(await bench.cameras.maskOf('masked')).toEqual({ id: 'msk_1', polygons: [polygon] });
    for (const id of ['open', 'nowhere', null]) expect(await bench.cameras.maskOf(id)).toBeNull();
  });

  it('are erased with everything of them, and a late write does not bring them back', async () => {
    await bench.cameras.put(camera('a'));
    await bench.cameras.addFrame('a', 'cmp_1', 1);
    await bench.cameras.saveSnapshot('a', { at: '2026-01-01T00:00:00.000Z', error: null });
    expect(await bench.cameras.erase('a')).toBe(true);
    await bench.cameras.saveSnapshot('a', { at: '2026-01-01T00:00:00.000Z', error: null });
    await bench.cameras.saveFramesErasedUntil('a', 5);
    expect(await bench.cameras.addFrame('a', 'cmp_2', 2)).toBe(false);
    expect(await bench.redis.keys('*')).toEqual([]);
    expect(await bench.cameras.erase('a')).toBe(false);
  });

  it('contain a frame once if it is added several times', async () => {
    await bench.cameras.put(camera('a'));
    for (const at of [1, 1, 2]) await bench.cameras.addFrame('a', 'cmp_1', at);
    expect(await bench.cameras.waitingFrames('a')).toBe(1);
  });

  it('have one pull at a time, until it ends or its worker does', async () => {
    const { cameras, redis } = bench;
    const presence = await createRunStore(redis, 'w').listen();
    expect([await cameras.beginPull('a', 'w:t1', 60_000), await cameras.beginPull('a', 'w:t2', 60_000)]).toEqual([
      true,
      false,
    ]);
    expect(await cameras.beginPull('b', 'w:t3', 60_000)).toBe(true);
    await cameras.endPull('a', 'w:t2');
    expect(await cameras.beginPull('a', 'w:t2', 60_000)).toBe(false);
    await cameras.endPull('a', 'w:t1');
    expect(await cameras.beginPull('a', 'w:t2', 60_000)).toBe(true);
    expect(await redis.pttl(KEYS.cameraPull('a'))).toBeGreaterThan(0);
    await presence.close();
    // Redis notices the end of a connection a moment later.
    await eventually(async () => expect(await cameras.beginPull('a', 'w:t4', 60_000)).toBe(true));
  });

  it('store the progress of their own retention', async () => {
    await bench.cameras.put(camera('a'));
    expect(await bench.cameras.framesErasedUntil('a')).toBe(0);
    await bench.cameras.saveFramesErasedUntil('a', 1_700_000_000_000);
    expect(await bench.cameras.framesErasedUntil('a')).toBe(1_700_000_000_000);
  });
});
