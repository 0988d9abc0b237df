/** The store of visits on a real Redis. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { visitWrites } from '../../src/stores/changes/visits.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { storedVisit } from '../helpers/visits.js';
import { useBench } from '../helpers/workers.js';

const bench = useBench();
const NOON = Date.parse('2026-01-05T12:00:00Z');
const HOUR_MS = 3_600_000;

async function save(type: Parameters<typeof visitWrites>[0][number]['type'], given: Parameters<typeof storedVisit>[0]) {
  const visit = storedVisit(given);
  for (const [name, ...args] of visitWrites([{ type, visit }], Date.now(), HOUR_MS)) {
    await bench.redis.call(name, ...args.map(String));
  }
  return visit;
}

describe('The store of visits', () => {
  beforeEach(async () => {
    for (let i = 0; i < 5; i++) {
      const camera = i % 2 === 0 ? 'gate' : 'yard';
      await save('visit.ended', { name: `${i}`, begun: NOON + i * 60_000, camera });
    }
    await save('visit.passed', { kind: 'passage', begun: NOON + HOUR_MS });
  });

  it('lists visits in pages, the latest begun first, without the passages', async () => {
    const first = await bench.visits.list({ kind: 'visit', limit: 2 });
    const second = await bench.visits.list({ kind: 'visit', limit: 9, cursor: first.nextCursor ?? '' });
    const all = [...first.items, ...second.items].map(({ first_seen }) => Date.parse(first_seen) - NOON);
    expect(all).toEqual([4, 3, 2, 1, 0].map((minute) => minute * 60_000));
    expect(second.nextCursor).toBeNull();
    expect((await bench.visits.list({ kind: 'passage', limit: 9 })).items).toHaveLength(1);
  });

  it('lists those of a camera and a time, and those that a key may see', async () => {
    const of = async (query: object) => (await bench.visits.list({ kind: 'visit', limit: 9, ...query })).items.length;
    expect(await of({ camera: 'yard' })).toBe(2);
    expect(await of({ since: NOON + 60_000, until: NOON + 180_000 })).toBe(2);
    expect(await of({ visibility: { owner: 'x', cameras: ['ga*'] } })).toBe(3);
    expect(await of({ camera: 'yard', visibility: { owner: 'x', cameras: ['ga*'] } })).toBe(0);
  });

  it('replaces the record of an open visit when it ends', async () => {
    const open = await save('visit.opened', { name: 'same', status: 'open', end: null, gone: null });
    expect((await bench.visits.get(open.id))?.status).toBe('open');
    await save('visit.ended', { name: 'same' });
    expect((await bench.visits.get(open.id))?.status).toBe('ended');
    expect(await bench.redis.zcard(KEYS.visitsByTime('visit'))).toBe(6);
  });

  it('keeps the judgement of a visit beside it, reports an acknowledgement as an event, and erases both with it', async () => {
    const { visits, redis } = bench;
    const visit = await save('visit.opened', { name: 'judged', camera: 'door', status: 'open', end: null, gone: null });
    const seen = async () => (await visits.judgements([visit.id]))[0];
    expect(await seen()).toEqual({ acknowledged_at: null, feedback: null });
    expect([await visits.acknowledge(visit, true), await visits.acknowledge(visit, true)]).toEqual([true, true]);
    await visits.giveFeedback(visit.id, { judgement: 'correct' });
    await visits.giveFeedback(visit.id, { judgement: 'false_alarm' });
    await save('visit.ended', { name: 'judged', camera: 'door' });
    expect(await seen()).toEqual({
      acknowledged_at: expect.any(String),
      feedback: { judgement: 'false_alarm', at: expect.any(String) },
    });
    await visits.acknowledge(visit, false);
    await visits.giveFeedback(visit.id, null);
    expect(await seen()).toEqual({ acknowledged_at: null, feedback: null });
    const types = (await redis.xrange(KEYS.events, '-', '+')).map(([, [, json]]) => JSON.parse(json ?? '').type);
    expect(types.slice(-3)).toEqual(['visit.acknowledged', 'visit.ended', 'visit.unacknowledged']);
    await visits.acknowledge(visit, true);
    await visits.eraseOf('door');
    expect([await redis.exists(KEYS.visitJudged(visit.id)), await visits.acknowledge(visit, true)]).toEqual([0, false]);
  });

  it('counts the passages of spans', async () => {
    expect(await bench.visits.counts('passage', 'gate', [NOON, NOON + HOUR_MS, NOON + 2 * HOUR_MS])).toEqual([0, 1]);
  });
});
