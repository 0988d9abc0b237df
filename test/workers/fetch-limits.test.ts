import { describe, expect, it } from '@jest/globals';
import type { StoredComparison } from '../../src/stores/comparisons/results.js';
import { createFetchLimits, FETCH_CONCURRENCY } from '../../src/workers/fetch-limits.js';
import { acceptedComparison } from '../helpers/comparisons.js';

const NOW = 1_000_000;
let made = 0;
const at = (url: string, change: { key?: string; camera?: string } = {}): StoredComparison => {
  const stored = acceptedComparison({ after: { from: 'url', url }, camera: change.camera ?? null });
  const owner = change.key ?? `key_${made++}`;
  return { ...stored, request: { ...stored.request, apiKeyId: owner, owner } };
};
/** @returns how many of many comparisons find room */
const roomFor = (one: (i: number) => StoredComparison, options = {}) => {
  const limits = createFetchLimits(() => NOW);
  return Array.from({ length: 100 }, (_, i) => limits.enter(one(i), options)).filter((room) => 'leave' in room).length;
};

describe('fetches at a time', () => {
  it.each([
    ['origin', (i: number) => at(`https://nvr.example/${i}.jpg`)],
    ['owner', (i: number) => at(`https://c${i}.example/`, { key: 'key_one' })],
    ['camera', (i: number) => at(`https://c${i}.example/`, { camera: 'gate' })],
  ])('of one %s are a part of what a worker fetches at a time', (_what, one) => {
    expect(roomFor(one)).toBeGreaterThan(0);
    expect(roomFor(one)).toBeLessThan(FETCH_CONCURRENCY / 2);
  });

  it('of an archive leave room for live ones', () => {
    const one = (i: number) => at(`https://c${i}.example/`);
    expect(roomFor(one, { archive: true })).toBeLessThan(FETCH_CONCURRENCY / 2);
    expect(roomFor(one)).toBeGreaterThan(FETCH_CONCURRENCY);
  });

  it('of S3 are counted per bucket', () => {
    const one = (i: number) => ({
      ...at('https://a.example/'),
      request: { ...at('').request, before: null, after: { from: 's3' as const, bucket: 'b', key: `${i}` } },
    });
    expect(roomFor(one)).toBeLessThan(FETCH_CONCURRENCY / 2);
  });

  it('of others find room, and room that was left is taken again', () => {
    const limits = createFetchLimits(() => NOW);
    const one = () => at('https://nvr.example/', { key: 'key_one' });
    const rooms = [];
    for (let room = limits.enter(one()); 'leave' in room; room = limits.enter(one())) rooms.push(room);
    expect('leave' in limits.enter(at('https://other.example/'))).toBe(true);
    rooms[0]?.leave();
    expect('leave' in limits.enter(one())).toBe(true);
    expect('leave' in limits.enter(one())).toBe(false);
  });

  it('that find no room are tried again one after the other', () => {
    const limits = createFetchLimits(() => NOW);
    const times = Array.from({ length: 50 }, () => limits.enter(at('https://nvr.example/'))).flatMap((room) =>
      'laterAt' in room ? [room.laterAt] : [],
    );
    expect(times.length).toBeGreaterThan(10);
    expect(new Set(times).size).toBe(times.length);
    expect(Math.min(...times)).toBeGreaterThan(NOW);
  });
});
