/**
 * Retention by camera: frames, comparisons and changes that are kept for a shorter time than the service keeps them.
 */
import { describe, expect, it } from '@jest/globals';
import { frameKey } from '../../src/base/blobs.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { createCameraRetention } from '../../src/workers/camera-retention.js';
import { picture, readComparison, sendFrame, setUpCamera, turnProcessor, workOff } from '../helpers/cameras.js';
import { foundChange, opening, saveTurnChanges, storedAlert } from '../helpers/changes.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();

describe("a camera's own retention", () => {
  const HOUR = 3_600_000;
  const retention = (skipMs: number) => createCameraRetention({ ...bench, clock: () => Date.now() + skipMs });
  const send = async (settings: object, frames: readonly Buffer[]) => {
    const gate = await setUpCamera(bench, 'gate', settings);
    const ids: string[] = [];
    for (const [i, frame] of frames.entries()) ids.push(await sendFrame(bench, gate, frame, i));
    await workOff('gate', turnProcessor(bench));
    return ids;
  };
  const isStored = async (frame: { sha256: string } | null | undefined) =>
    (await bench.blobs.get(frameKey(frame?.sha256 ?? ''))) !== undefined;

  it('erases old frames and comparisons, but not the frame that the next one is compared with', async () => {
    const frames = [await picture(), await picture({ background: [95, 120, 150] })];
    const [first, second] = await send(
      { before: 'previous', retention: { frames_hours: 1, results_hours: 2 } },
      frames,
    );
    const stored = await bench.results.get(second ?? '');
    expect(await retention(0).retain(new Set())).toEqual({ comparisons: 0, changes: 0, frames: 0 });

    const later = retention(1.5 * HOUR);
    const inUse = await later.framesInUse();
    expect(inUse).toEqual(new Set([frameKey(stored?.frames.after?.sha256 ?? '')]));
    expect(await later.retain(inUse)).toEqual({ comparisons: 0, changes: 0, frames: 1 });
    expect([await isStored(stored?.frames.before), await isStored(stored?.frames.after)]).toEqual([false, true]);
    // The second round finds nothing to erase.
    expect(await later.retain(inUse)).toEqual({ comparisons: 0, changes: 0, frames: 0 });

    expect(await retention(3 * HOUR).retain(inUse)).toEqual({ comparisons: 2, changes: 0, frames: 0 });
    await expect(readComparison(bench, first ?? '')).rejects.toThrow(/there is no/);
  });

  it('of zero hours keeps a frame that came into use after the round began', async () => {
    const none = { before: 'previous', retention: { frames_hours: 0 } };
    await send(none, [await picture()]);
    const inUse = await retention(0).framesInUse();
    const gate = await setUpCamera(bench, 'gate', none);
    await sendFrame(bench, gate, await picture({ background: [95, 120, 150] }), 1);
    await workOff('gate', turnProcessor(bench));
    // The clocks of the workers may differ slightly.
    expect(await retention(1_000).retain(inUse)).toEqual({ comparisons: 0, changes: 0, frames: 0 });
    expect(await isStored((await bench.cameras.state('gate'))?.before?.frame)).toBe(true);

    const later = retention(10 * 60_000);
    expect(await later.retain(await later.framesInUse())).toEqual({ comparisons: 0, changes: 0, frames: 1 });
  });

  it('erases changes by the time of their last write, with their alerts', async () => {
    await setUpCamera(bench, 'gate', { retention: { results_hours: 2 } });
    await setUpCamera(bench, 'yard', {});
    const [old, young] = [foundChange({ name: 'old' }), foundChange({ name: 'young' })];
    const others = foundChange({ name: 'other', camera: 'yard' });
    for (const change of [old, young, others]) {
      const turn = { camera: change.camera, changes: [opening(change)], alerts: [storedAlert(change)] };
      await saveTurnChanges(bench.redis, turn);
    }
    for (const change of [old, others]) {
      await bench.redis.zadd(KEYS.changesByWriting, Date.now() - 2.5 * HOUR, change.id);
    }
    expect(await retention(0).retain(new Set())).toEqual({ comparisons: 0, changes: 1, frames: 0 });
    const left = [old, young, others].map(({ id }) => bench.changes.get(id));
    expect((await Promise.all(left)).map((change) => change?.id)).toEqual([undefined, young.id, others.id]);
    expect(await bench.changes.alert(storedAlert(old).message.id)).toBeUndefined();
    expect(await bench.changes.alert(storedAlert(young).message.id)).toBeDefined();
  });

  it('counts backgrounds and references as in use', async () => {
    const [first] = await send({ before: 'memory' }, [await picture()]);
    const background = (await bench.results.get(first ?? ''))?.frames.after;
    const reference = { from: 'stored' as const, sha256: 'd'.repeat(64), bytes: 1, contentType: 'image/png' };
    await setUpCamera(bench, 'yard', { before: 'reference' }, { reference });
    const expected = [background?.sha256 ?? '', reference.sha256].map(frameKey);
    expect(await retention(0).framesInUse()).toEqual(new Set(expected));
  });
});
