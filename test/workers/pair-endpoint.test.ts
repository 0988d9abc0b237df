/** Pairs of a camera as messages to the endpoints that ask for them. */
import { describe, expect, it } from '@jest/globals';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import type { Comparison, Finding } from '../../src/schemas/comparison.js';
import { acceptedComparison, finding } from '../helpers/comparisons.js';
import { useEndpointDeliveries } from '../helpers/endpoint-deliveries.js';

const world = useEndpointDeliveries();
const { bench, queue, register, run } = world;
const PAIRS = { events: ['pair.compared' as const] };
const FOUND = finding as unknown as Finding;

/** @returns the comparison of a pair of a camera that has ended */
async function ended(given: Partial<Comparison> = {}, callbackUrl: string | null = null) {
  const record = acceptedComparison({ camera: 'gate', callbackUrl });
  const stored = { ...record, request: { ...record.request, byCamera: true as const } };
  await bench.results.create(stored);
  const finished_at = new Date(world.now).toISOString();
  const comparison: Comparison = { ...stored.comparison, status: 'finished', finished_at, ...FOUND, ...given };
  await bench.results.update(comparison.id, { comparison });
  return { ...stored, comparison };
}
const enqueue = async (stored: Awaited<ReturnType<typeof ended>>) => {
  world.queued = [];
  await createEnqueueDelivery({ ...bench, endpoints: world.endpoints, queue }).ofComparison(stored);
  return world.queued;
};
const open = () => bench.deliveries.overdue(Date.now() + 60_000, 10);

describe('A pair of a camera', () => {
  it('goes to the endpoints that ask for pairs, and to no others', async () => {
    await register({ events: ['change.opened'] });
    const { id: endpoint } = await register(PAIRS);
    const stored = await ended();
    expect(await open()).toHaveLength(1);
    const [id = '', ...others] = await enqueue(stored);
    expect(others).toEqual([]);
    expect(await open()).toEqual([id]);
    expect(await bench.deliveries.get(id)).toMatchObject({ endpoint, event: 'pair.compared' });
    expect(await run(id)).toEqual({ kind: 'delivered' });
    expect(JSON.parse(world.receiver.received[0]?.body ?? '')).toMatchObject({
      type: 'pair.compared',
      data: { id: stored.comparison.id, camera: 'gate', caption: FOUND.caption },
    });
  });

  it('that no endpoint asks for leaves nothing open', async () => {
    await register({ events: ['change.opened'] });
    expect(await enqueue(await ended())).toEqual([]);
    expect(await open()).toEqual([]);
  });

  it('goes to the callback of its camera as well', async () => {
    await register(PAIRS);
    expect(await enqueue(await ended({}, 'https://receiver.example/'))).toHaveLength(2);
  });

  it('is left out by its severity; a failed one is not', async () => {
    await register({ ...PAIRS, min_severity: 'medium' });
    expect(await enqueue(await ended({ severity: 'info' }))).toEqual([]);
    const error = { type: 'about:blank', title: 'Gone', status: 410, detail: 'no picture at 07:00' };
    const failed = await ended();
    const comparison = { ...acceptedComparison({ camera: 'gate' }).comparison, status: 'failed' as const, error };
    expect(await enqueue({ ...failed, comparison: { ...comparison, id: failed.comparison.id } })).toHaveLength(1);
  });

  it.each(['cloudevents', 'slack', 'ntfy', 'teams', 'telegram'] as const)('is a message of %s', async (format) => {
    const path = format === 'telegram' ? '/bot1:a?chat_id=2' : '/topic';
    await register({ ...PAIRS, format, locale: 'de' }, path, { authorization: 'a'.repeat(32) });
    world.answer = (_request, response) => response.writeHead(200, { 'WebHook-Allowed-Origin': '*' }).end();
    const [id = ''] = await enqueue(await ended());
    expect(await run(id)).toEqual({ kind: 'delivered' });
    expect(world.receiver.received.at(-1)?.body).toContain(format === 'cloudevents' ? 'pair.compared' : 'Bildpaar');
  });
});
