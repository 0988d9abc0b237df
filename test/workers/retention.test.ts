import { existsSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { frameKey, heatmapKey } from '../../src/base/blobs.js';
import { newId } from '../../src/base/ids.js';
import type { BatchRequest } from '../../src/stores/batches/batch-request.js';
import { batchResultKey } from '../../src/stores/batches/batches.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { createCameraRetention } from '../../src/workers/camera-retention.js';
import { createRetention } from '../../src/workers/retention.js';
import { setUpCamera } from '../helpers/cameras.js';
import { foundChange, opening, saveTurnChanges } from '../helpers/changes.js';
import { acceptedComparison, finished, storedRef } from '../helpers/comparisons.js';
import { type Bench, logger, setUpBench } from '../helpers/workers.js';

const HOUR = 3_600_000;
let bench: Bench;

beforeAll(async () => {
  bench = await setUpBench();
});
beforeEach(() => bench.redis.flushall());
afterAll(() => bench.stop());

const retain = (hours: { frames?: number; heatmaps?: number; results?: number } = {}) =>
  createRetention({
    ...bench,
    ofCameras: createCameraRetention({ ...bench, clock: Date.now }),
    config: {
      frameRetentionHours: hours.frames ?? 1,
      heatmapRetentionHours: hours.heatmaps ?? 1,
      resultRetentionHours: hours.results ?? 1,
    },
    clock: Date.now,
    logger,
  })();
const put = async (key: string, ageMs: number) => {
  await bench.blobs.put(key, Buffer.from('x'));
  const at = new Date(Date.now() - ageMs);
  await utimes(join(bench.folder, key), at, at);
};
const exists = async (key: string) => (await bench.blobs.get(key)) !== undefined;
const key = (fill: string) => frameKey(fill.repeat(64));

describe('retention', () => {
  it('deletes frames, heatmap data and results that are older than their hours, and nothing else', async () => {
    const old = acceptedComparison({ createdAt: Date.now() - 1.5 * HOUR });
    const young = acceptedComparison();
    for (const { comparison, ...rest } of [old, young]) {
      await bench.results.create({ comparison, ...rest });
      await bench.results.update(comparison.id, { comparison: finished(comparison) });
      await bench.blobs.put(heatmapKey(comparison.id), Buffer.from('x'));
    }
    const oldMaps = heatmapKey('cmp_00000000000000000000000000');
    await put(oldMaps, 2 * HOUR);
    await put(key('1'), 2 * HOUR);
    await put(key('2'), HOUR / 2);
    expect(await retain()).toEqual({
      comparisons: 1,
      changes: 0,
      visits: 0,
      frames: 1,
      heatmaps: 1,
      packages: 0,
      batches: 0,
    });
    expect(await bench.results.get(old.comparison.id)).toBeUndefined();
    expect(await bench.results.get(young.comparison.id)).toBeDefined();
    expect(await exists(heatmapKey(old.comparison.id))).toBe(false);
    expect(await exists(heatmapKey(young.comparison.id))).toBe(true);
    expect(await exists(oldMaps)).toBe(false);
    expect(await exists(key('1'))).toBe(false);
    expect(await exists(key('2'))).toBe(true);
  });

  it('erases uploads of requests that never became a batch, after two days', async () => {
    const [old, young, accepted] = [newId('bat', 1), newId('bat', 2), newId('bat', 3)];
    const limits = { maxBytes: 10, what: 'x' };
    for (const id of [old, young, accepted])
      await bench.files.saveUpload(id, 1, Readable.from(Buffer.from('x')), limits);
    await bench.batches.create({ id: accepted, owner: 'local', createdAt: Date.now(), request: {} as BatchRequest });
    const at = new Date(Date.now() - 49 * HOUR);
    for (const id of [old, accepted]) await utimes(bench.files.folderOf(id), at, at);
    await retain();
    expect([old, young, accepted].map((id) => existsSync(bench.files.uploadOf(id, 1)))).toEqual([false, true, true]);
  });

  it('erases batches with their uploads, pictures and results after the hours of results', async () => {
    const [old, young] = [newId('bat', Date.now() - 2 * HOUR), newId('bat')];
    const upload = { maxBytes: 10, what: 'a.mp4' };
    for (const [id, createdAt] of [
      [old, Date.now() - 2 * HOUR],
      [young, Date.now()],
    ] as const) {
      await bench.batches.create({ id, owner: 'local', createdAt, request: {} as BatchRequest });
      await bench.blobs.put(batchResultKey(id, 'changes.csv'), Buffer.from('x'));
      await bench.files.saveUpload(id, 1, Readable.from([Buffer.from('x')]), upload);
    }
    expect(await retain()).toMatchObject({ batches: 1 });
    expect(await bench.batches.get(old)).toBeUndefined();
    expect(await exists(batchResultKey(old, 'changes.csv'))).toBe(false);
    expect(existsSync(bench.files.uploadOf(old, 1))).toBe(false);
    expect(await bench.batches.get(young)).toBeDefined();
    expect(await exists(batchResultKey(young, 'changes.csv'))).toBe(true);
    expect(existsSync(bench.files.uploadOf(young, 1))).toBe(true);
  });

  it('keeps the frames of a comparison that still waits, however old they are', async () => {
    const waiting = acceptedComparison({ before: storedRef('3'), after: { from: 'url', url: 'https://x/' } });
    const done = acceptedComparison({ before: storedRef('4'), after: storedRef('5') });
    await bench.results.create(waiting);
    await bench.results.create({ ...done });
    // A fetched frame, which only the comparison's frames refer to.
    const frames = { before: waiting.frames.before, after: storedRef('6') };
    await bench.results.update(waiting.comparison.id, {
      comparison: { ...waiting.comparison, status: 'running' },
      frames,
    });
    await bench.results.update(done.comparison.id, { comparison: finished(done.comparison) });
    for (const fill of ['3', '4', '5', '6']) await put(key(fill), 100 * HOUR);
    await retain();
    expect(await Promise.all(['3', '4', '5', '6'].map((fill) => exists(key(fill))))).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });

  it('keeps frames with feedback, and erases changes whose last write is too old', async () => {
    const judged = acceptedComparison({ before: storedRef('3'), after: storedRef('4') });
    await bench.results.create(judged);
    await bench.results.update(judged.comparison.id, { comparison: finished(judged.comparison) });
    const best = judged.comparison.id;
    const change = foundChange({ comparisons: { first: best, best, last: best } });
    await saveTurnChanges(bench.redis, { changes: [opening(change)] });
    for (const fill of ['3', '4']) await put(key(fill), 100 * HOUR);
    await bench.changes.giveFeedback(change.id, { judgement: 'correct' });
    await retain();
    expect(await Promise.all(['3', '4'].map((fill) => exists(key(fill))))).toEqual([true, true]);
    await bench.redis.zadd(KEYS.changesByWriting, Date.now() - 2 * HOUR, change.id);
    expect(await retain()).toMatchObject({ changes: 1, frames: 0 });
    expect(await bench.changes.get(change.id)).toBeUndefined();
    expect(await retain()).toMatchObject({ changes: 0, frames: 2 });
  });

  it('deletes the frames that an erasure left, unless a comparison, a camera or a new request has them', async () => {
    const MINUTE = 60_000;
    const gate = await setUpCamera(bench, 'gate', { before: 'reference' }, { reference: storedRef('2') });
    const kept = acceptedComparison({ before: storedRef('1'), after: storedRef('1') });
    await bench.results.create(kept);
    await bench.results.update(kept.comparison.id, { comparison: finished(kept.comparison) });
    const erased = acceptedComparison({ before: storedRef('4'), after: storedRef('5') });
    await bench.results.create(erased);
    for (const fill of ['1', '2', '3', '4', '5']) await put(key(fill), 20 * MINUTE);
    const erasedAt = Date.now() - 10 * MINUTE;
    await bench.frameUses.leaveComparison(erased.comparison.id, erasedAt);
    await bench.results.erase(erased.comparison.id);
    await bench.frameUses.leave(
      ['1', '2', '3'].map((fill) => fill.repeat(64)),
      erasedAt,
    );
    await bench.blobs.put(key('3'), Buffer.from('x'));
    const stored = () => Promise.all(['1', '2', '3', '4', '5'].map((fill) => exists(key(fill))));

    await retain();
    expect(await stored()).toEqual([true, true, true, false, false]);
    expect(await bench.frameUses.left(Date.now())).toEqual([]);

    // A younger erasure waits: the same frame may be in a request that has no comparison yet.
    await bench.frameUses.leave(await bench.frameUses.ofCamera(gate.id), Date.now());
    await bench.cameras.erase(gate.id);
    await retain();
    expect(await exists(key('2'))).toBe(true);
    expect(await bench.frameUses.left(Date.now() + 1)).toEqual(['2'.repeat(64)]);
  });

  it('of no hours keeps frames until their comparison is finished, and those too young to have one', async () => {
    await put(key('7'), 10 * 60_000);
    await put(key('8'), 1_000);
    await retain({ frames: 0 });
    expect(await exists(key('7'))).toBe(false);
    expect(await exists(key('8'))).toBe(true);
  });
});
