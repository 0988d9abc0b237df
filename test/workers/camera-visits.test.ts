/** Visits of a live camera: stored by its turns, streamed, delivered to endpoints that ask, and erased. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { visitMessage } from '../../src/camera/visits/message.js';
import { wantsMessage } from '../../src/endpoints/filter.js';
import { settingsWith } from '../../src/endpoints/settings.js';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import type { Visit } from '../../src/schemas/visit.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { createCameraRetention } from '../../src/workers/camera-retention.js';
import { EMPTY, runsOn } from '../helpers/camera-runs.js';
import { picture, RED, setUpCamera, turnProcessor, walkingPipeline } from '../helpers/cameras.js';
import { useEndpointDeliveries } from '../helpers/endpoint-deliveries.js';

const world = useEndpointDeliveries();
const { bench, events, queue, register, run } = world;
const HOUR_MS = 3_600_000;

const SETTINGS = { before: 'reference', alerts: { confirm_frames: 1 } };
const WALK = [4, 8, 12, 16, 20];
/** A person walks in from the left and is gone for ten frames. */
function walk(settings: object = {}) {
  const frames = [EMPTY, ...WALK.map(personAt), ...Array.from({ length: 10 }, () => EMPTY)];
  return watch(
    frames.map((frame, second) => [frame, second] as const),
    settings,
  );
}
const personAt = (x: number) => picture({ things: [[x, 20, 6, 20, RED]] });
async function watch(frames: Parameters<ReturnType<typeof runsOn>>[1], settings: object) {
  const camera = await setUpCamera(bench, 'gate', { ...SETTINGS, ...settings });
  const { pipeline } = walkingPipeline();
  const enqueueDelivery = createEnqueueDelivery({ ...bench, endpoints: world.endpoints, queue });
  await runsOn(() => bench)(camera, frames, turnProcessor(bench, { pipeline, enqueueDelivery }));
  return bench.visits.list({ kind: 'visit', limit: 10 });
}
const streamed = async () => (await events()).filter(({ type }) => type.startsWith('visit.'));
const keysOfVisits = async () => (await bench.redis.keys('*')).filter((key) => key.includes('sd:vis'));

beforeEach(() => bench.redis.del(KEYS.events));

describe('A visit of a live camera', () => {
  it('is stored when it ends, and its begin and end are in the event stream', async () => {
    const { items } = await walk();
    const [visit] = items as [Visit];
    expect(items).toHaveLength(1);
    expect(visit).toMatchObject({
      ...{ camera: 'gate', status: 'ended', end: 'gone', first_seen: '2026-06-01T12:00:01.000Z', frames: WALK.length },
      gone: { after: '2026-06-01T12:00:05.000Z', before: '2026-06-01T12:00:06.000Z' },
    });
    const subject = { kind: 'visit', id: visit.id };
    expect(await streamed()).toMatchObject([
      { type: 'visit.opened', subject, camera: 'gate' },
      { type: 'visit.ended', subject, caption: visit.caption, at: visit.gone?.before },
    ]);
    const best = await bench.results.get(visit.best.comparison);
    expect(best?.comparison.camera_frame?.captured_at).toBe(visit.best.at);
  });

  it('goes to the endpoints that ask for it, and to no others', async () => {
    await register({});
    const asking = await register({ events: ['visit.ended'], zones: ['door'] });
    const [visit] = (await walk()).items as [Visit];
    const sent = await Promise.all(world.queued.map((id) => bench.deliveries.get(id)));
    const ofVisit = sent.filter((delivery) => delivery?.subject?.kind === 'visit');
    expect(ofVisit).toMatchObject([
      { subject: { id: visit.id }, event: 'visit.ended', endpoint: asking.id, state: 'pending' },
    ]);
    expect(await run(ofVisit[0]?.id ?? '')).toEqual({ kind: 'delivered' });
    const body = JSON.parse(world.receiver.received[0]?.body ?? '');
    const picture = { url: expect.stringMatching(/^https:\/\/cameras\.example\/v1\/comparisons\/cmp_.*sig=/) };
    expect(body).toEqual({
      type: 'visit.ended',
      timestamp: expect.any(String),
      data: { visit, frames: { before: picture, after: picture } },
    });
  });

  const LONG = { when: 'a person has stayed longer than 3 s', severity: 'high' };
  const alertsOf = (...severity_rules: object[]) => ({ alerts: { ...SETTINGS.alerts, severity_rules } });

  it('is alerted once by a rule while it is there, also to a new endpoint and to the callback_url', async () => {
    await register({ min_severity: 'high' });
    const { alerts } = alertsOf(LONG);
    const callback_url = 'https://r.example/callback';
    const [visit] = (await walk({ alerts: { ...alerts, callback_url } })).items as [Visit];
    expect(visit.alert).toEqual({ when: LONG.when, severity: 'high', at: '2026-06-01T12:00:05.000Z' });
    const types = (await streamed()).map(({ type }) => type);
    expect(types).toEqual(['visit.opened', 'visit.alerted', 'visit.ended']);
    const sent = await Promise.all(world.queued.map((id) => bench.deliveries.get(id)));
    const ofVisit = sent.filter((delivery) => delivery?.subject?.id === visit.id);
    expect(ofVisit.map((delivery) => delivery?.url).sort()).toEqual([`${world.receiver.url}/...`, callback_url]);
  });

  it('is alerted at its end by a rule about what came and went', async () => {
    const rule = { when: 'a person came and left', severity: 'low' };
    const [visit] = (await walk(alertsOf(rule))).items as [Visit];
    expect(visit.alert).toMatchObject(rule);
    expect((await streamed()).map(({ type }) => type)).toEqual(['visit.opened', 'visit.ended', 'visit.alerted']);
  });

  it('does not go on while the camera repeats one picture, and ends unseen: no rule about its time holds', async () => {
    await register({});
    const stuck = Array.from({ length: 40 }, () => personAt(20));
    const frames = [EMPTY, ...WALK.map(personAt)].map((frame, second) => [frame, second] as const);
    const frozen = stuck.map((frame, i) => [frame, 35 + 30 * i] as const);
    const rule = alertsOf({ when: 'a person has stayed longer than 150 s', severity: 'high' });
    const { items } = await watch([...frames, ...frozen, [personAt(21), 1_240]], rule);
    const ended = { end: 'unseen', last_seen: '2026-06-01T12:00:05.000Z' };
    expect(items).toMatchObject([ended]);
    const sent = await Promise.all(world.queued.map((id) => bench.deliveries.get(id)));
    expect(sent.map((delivery) => delivery?.event)).toEqual(['change.opened']);
    expect((await bench.cameras.state('gate'))?.still).toBeUndefined();
  });

  it('of a camera whose alerts are suspended is stored, and no endpoint gets it', async () => {
    await register({ events: ['visit.opened'] });
    const { items } = await walk({ suspend_until: '2099-01-01T00:00:00Z' });
    expect([items.length, world.queued]).toEqual([1, []]);
  });

  it('is erased with its camera, messages included', async () => {
    await register({ events: ['visit.opened', 'visit.ended'] });
    await walk();
    expect(await keysOfVisits()).not.toEqual([]);
    const alerts = await bench.redis.zrange(KEYS.alertsByTime, '0', '-1');
    expect(await bench.visits.eraseOf('gate')).toBe(1);
    expect(await keysOfVisits()).toEqual([]);
    const kept = await Promise.all(alerts.map((id) => bench.changes.alert(id)));
    expect(kept.filter((one) => one?.message.subject.kind === 'visit')).toEqual([]);
  });

  it('is erased by the retention of the service, or sooner by that of its camera', async () => {
    const visits = async (results_hours: number | null, skipped: number) => {
      await walk({ retention: { results_hours } });
      const retention = createCameraRetention({ ...bench, clock: () => Date.now() + skipped * HOUR_MS });
      return retention.retainVisits(5);
    };
    expect(await visits(null, 4)).toBe(0);
    expect(await bench.visits.eraseOf('gate')).toBe(1);
    await bench.redis.flushall();
    expect(await visits(null, 6)).toBe(1);
    await bench.redis.flushall();
    expect(await visits(2, 4)).toBe(1);
  });
});

it('An endpoint that asks for visits gets those of its cameras with its words', async () => {
  const [visit] = (await walk()).items as [Visit];
  const message = visitMessage({ type: 'visit.ended', visit }, 0);
  if (message === null) throw new Error('endpoints can ask for it');
  const wants = (given: object) => wantsMessage(settingsWith({ events: ['visit.ended'], ...given }), message);
  expect([{}, { cameras: ['yard'] }, { text: 'person' }, { text: 'dog' }, { enabled: false }].map(wants)).toEqual([
    ...[true, false, true, false, false],
  ]);
});
