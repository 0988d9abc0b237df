/** Cameras without frames, and cameras that repeat one picture: one message each, and one when they are back. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { CameraSettings } from '../../src/camera/settings/settings.js';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import { createStandstillStore } from '../../src/stores/cameras/standstills.js';
import { createTurnStore } from '../../src/stores/cameras/turns.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { createStandstillWatch } from '../../src/workers/standstills.js';
import { EMPTY, runsOn, WITH_CAR } from '../helpers/camera-runs.js';
import { setUpCamera, turnProcessor } from '../helpers/cameras.js';
import { useEndpointDeliveries } from '../helpers/endpoint-deliveries.js';
import { logger } from '../helpers/workers.js';

const world = useEndpointDeliveries();
const { bench, queue, register, run } = world;
const MINUTE = 60_000;
let now: number;
let watch: () => Promise<number>;

const snapshotOf = (host: string, id: string) => ({ url: `http://${host}/${id}.jpg`, interval_s: 10 });
const camera = (id: string, settings: Partial<CameraSettings> = {}) => setUpCamera(bench, id, settings);
/** As the commit of a frame's turn notes it. */
const frameOf = (id: string) => bench.redis.hset(KEYS.camera(id), 'seen', now);
const failing = (id: string) =>
  bench.redis.hset(KEYS.camera(id), 'snapshot', JSON.stringify({ at: '', error: 'image-unreachable: answers 503' }));
const later = async (minutes: number): Promise<number> => {
  now += minutes * MINUTE;
  return watch();
};
/** The bodies that the endpoint has received, after the deliveries that wait. */
async function received() {
  for (const id of world.queued.splice(0)) expect(await run(id)).toEqual({ kind: 'delivered' });
  return world.receiver.received.splice(0).map(({ body }) => JSON.parse(body));
}

beforeEach(async () => {
  now = Date.now();
  await bench.redis.del(KEYS.events);
  const standstills = createStandstillStore(bench.redis, { retentionMs: 60 * MINUTE });
  const enqueueDelivery = createEnqueueDelivery({ ...bench, endpoints: world.endpoints, queue });
  watch = createStandstillWatch({ standstills, cameras: bench.cameras, enqueueDelivery, clock: () => now, logger });
});

describe('A camera that falls silent', () => {
  it('is one message to an endpoint that asked for nothing, with the reason, and one when it is back', async () => {
    await register({});
    await camera('gate', { snapshot: snapshotOf('10.0.0.7', 'gate') });
    await frameOf('gate');
    const last = new Date(now).toISOString();
    await failing('gate');
    expect([await later(4), await later(2), await later(30)]).toEqual([0, 1, 0]);
    const [body, ...others] = await received();
    expect(others).toEqual([]);
    expect(body).toMatchObject({
      type: 'camera.silent',
      data: {
        signal: {
          ...{ camera: 'gate', cameras: ['gate'], reason: 'silent', since: last },
          detail: 'image-unreachable: answers 503',
          caption: 'The camera sends no picture.',
        },
      },
    });
    await frameOf('gate');
    await later(1);
    await later(1);
    expect(await received()).toMatchObject([
      { type: 'camera.back', data: { signal: { camera: 'gate', since: last } } },
    ]);
    const events = (await bench.redis.xrange(KEYS.events, '-', '+')).map(([, [, json = '']]) => JSON.parse(json));
    expect(events.map(({ type }) => type)).toEqual(['camera.silent', 'camera.back']);
  });

  it('is reported after three of its intervals if frames are posted rarely', async () => {
    await register({});
    const gate = await camera('gate');
    const frames = [EMPTY, WITH_CAR, EMPTY].map((frame, i) => [frame, 400 * i] as const);
    await runsOn(() => bench)(gate, frames, turnProcessor(bench));
    expect([await later(10), await later(9), await later(2)]).toEqual([0, 0, 1]);
  });

  it('says nothing without a frame before, with silent_after_s 0, while it is suspended, and after its erasure', async () => {
    await register({});
    await camera('posted');
    await camera('off', { silent_after_s: 0, snapshot: snapshotOf('10.0.0.8', 'off') });
    await camera('suspended', { suspend_until: new Date(now + 60 * MINUTE).toISOString() });
    await camera('erased');
    for (const id of ['off', 'suspended', 'erased']) await frameOf(id);
    await bench.cameras.erase('erased');
    expect(await later(30)).toBe(0);
    expect(await later(31)).toBe(1);
    expect((await received()).map(({ data }) => data.signal.camera)).toEqual(['suspended']);
  });

  it('whose frames are pulled and never come is reported, too', async () => {
    await register({});
    await camera('new', { snapshot: snapshotOf('10.0.0.9', 'new') });
    expect(await later(6)).toBe(1);
  });

  it('is not reported because no worker ran', async () => {
    await register({});
    await camera('gate');
    await bench.redis.hset(KEYS.camera('gate'), 'seen', now - 120 * MINUTE);
    expect([await later(4), await later(2)]).toEqual([0, 1]);
  });
});

describe('Twenty cameras of one host', () => {
  const ids = Array.from({ length: 20 }, (_, i) => `cam-${String(i).padStart(2, '0')}`);

  it('that fall silent within a minute are one message, and one when all of them are back', async () => {
    await register({ cameras: ['cam-1*'] });
    for (const [i, id] of ids.entries()) {
      await camera(id, { snapshot: snapshotOf('10.0.0.7', id) });
      await bench.redis.hset(KEYS.camera(id), 'seen', now + i * 1_000);
      await failing(id);
    }
    expect([await later(5.1), await later(0.5)]).toEqual([0, 1]);
    const [body, ...others] = await received();
    expect(others).toEqual([]);
    expect(body.data.signal.cameras).toEqual(ids);
    for (const id of ids.slice(1)) await frameOf(id);
    await later(1);
    expect(await received()).toEqual([]);
    await frameOf('cam-00');
    await later(1);
    expect(await received()).toMatchObject([{ type: 'camera.back', data: { signal: { camera: 'cam-00' } } }]);
  });
});

describe('Cameras of one label', () => {
  const site = (id: string, last: number, settings: Partial<CameraSettings> = {}) => {
    const snapshot = snapshotOf(`${id}.example`, id);
    return camera(id, { labels: ['site-a'], ...(last % 2 === 0 && { snapshot }), ...settings });
  };
  const signals = async () => (await received()).map(({ type, data }) => [type, data.signal.cameras]);

  it('that fall silent together are one message, whether they are pulled or posted', async () => {
    await register({});
    for (const i of [0, 1, 2, 3]) {
      await site(`cam-${i}`, i);
      await bench.redis.hset(KEYS.camera(`cam-${i}`), 'seen', now + i * 10_000);
    }
    await camera('other', { labels: ['site-b'] });
    await frameOf('other');
    expect([await later(5), await later(0.6)]).toEqual([1, 1]);
    expect(await signals()).toEqual([
      ['camera.silent', ['other']],
      ['camera.silent', ['cam-0', 'cam-1', 'cam-2', 'cam-3']],
    ]);
  });

  it('of which some stay away: the others are back after five minutes, and the rest is reported anew', async () => {
    await register({});
    for (const i of [0, 1, 2]) {
      await site(`cam-${i}`, i);
      await frameOf(`cam-${i}`);
    }
    expect(await later(6)).toBe(1);
    await received();
    for (const minutes of [1, 4, 2, 1]) {
      now += minutes * MINUTE;
      for (const i of [0, 1]) await frameOf(`cam-${i}`);
      await later(0);
    }
    expect(await signals()).toEqual([
      ['camera.back', ['cam-0', 'cam-1']],
      ['camera.silent', ['cam-2']],
    ]);
  });
});

describe('A receiver that closes what it opened', () => {
  it.each(['alertmanager', 'pagerduty'] as const)('gets the return of a camera: %s', async (format) => {
    await register({ format });
    await camera('gate', { snapshot: snapshotOf('10.0.0.7', 'gate') });
    await frameOf('gate');
    await later(6);
    const [opened] = await received();
    await frameOf('gate');
    await later(1);
    const [closed] = await received();
    if (format === 'pagerduty') {
      expect(opened).toMatchObject({ event_action: 'trigger', dedup_key: 'camera:gate' });
      expect(closed).toMatchObject({ event_action: 'resolve', dedup_key: 'camera:gate' });
    } else {
      expect(closed.at(-1).labels).toEqual(opened[0].labels);
      expect(Date.parse(opened[0].endsAt)).toBeGreaterThan(now);
      expect(Date.parse(closed.at(-1).endsAt)).toBeLessThanOrEqual(Date.now());
    }
  });
});

describe('Cameras that repeat one picture', () => {
  /** Each has sent the same picture at these seconds. */
  const repeat = async (ids: readonly string[], seconds: readonly number[], frame: typeof EMPTY = EMPTY) => {
    const turns = createTurnStore(bench.redis, { retentionMs: 60 * MINUTE, now: () => now });
    const frames = seconds.map((second) => [frame, second] as const);
    for (const id of ids) {
      const found = await bench.cameras.get(id);
      if (found === undefined) throw new Error(`${id} is set up`);
      await runsOn(() => bench)(found, frames, turnProcessor(bench, { turns }));
    }
  };
  const signals = async () => (await received()).map(({ type, data }) => [type, data.signal.cameras]);

  it('are one message if they share a host, and one when all of them are back', async () => {
    await register({});
    const ids = Array.from({ length: 20 }, (_, i) => `cam-${String(i).padStart(2, '0')}`);
    for (const id of ids) await camera(id, { snapshot: snapshotOf('10.0.0.7', id) });
    await camera('other', { snapshot: snapshotOf('10.0.0.8', 'other') });
    await repeat([...ids, 'other'], [0, 100, 200]);
    await later(1.5);
    await repeat(ids.slice(0, 5), [300]);
    // The others of the host are about to be stuck.
    expect(await later(0)).toBe(0);
    await repeat([...ids.slice(5), 'other'], [300]);
    expect(await later(0.5)).toBe(2);
    expect(await signals()).toEqual([
      ['camera.stuck', ids],
      ['camera.stuck', ['other']],
    ]);
    await repeat(ids.slice(1), [400], WITH_CAR);
    await repeat(['cam-00', 'other'], [400]);
    await later(1);
    expect(await signals()).toEqual([]);
    await repeat(['cam-00'], [500], WITH_CAR);
    await later(1);
    expect(await signals()).toEqual([['camera.back', ids]]);
  });

  it('of which one goes on: the others wait for it no longer than a minute', async () => {
    await register({});
    for (const id of ['a', 'b']) await camera(id, { labels: ['site-a'] });
    await repeat(['a', 'b'], [0, 100, 200, 260]);
    await repeat(['a'], [310]);
    expect([await later(0), await later(0.5), await later(0.5)]).toEqual([0, 0, 1]);
    await repeat(['b'], [330], WITH_CAR);
    await later(1);
    expect(await signals()).toEqual([['camera.stuck', ['a']]]);
  });

  it('are reported once in a sentence, and are not called silent if their frames end as well', async () => {
    await register({ format: 'slack' });
    for (const id of ['a', 'b']) await camera(id, { labels: ['site-a'] });
    await repeat(['a', 'b'], [0, 100, 200, 300]);
    await later(1);
    await later(30);
    expect((await received()).map(({ text }) => text)).toEqual(['2 cameras repeat one picture.']);
  });

  it('are reported once their alerts are not suspended', async () => {
    await register({});
    await camera('gate', { suspend_until: new Date(now + 10 * MINUTE).toISOString() });
    await repeat(['gate'], [0, 100, 200, 300, 400]);
    await later(9);
    await repeat(['gate'], [940]);
    expect((await bench.cameras.state('gate'))?.still).toMatchObject({ stuck: true });
    expect([await received(), await later(2)]).toEqual([[], 1]);
    expect(await received()).toMatchObject([{ type: 'camera.stuck', data: { signal: { reason: 'stuck' } } }]);
  });
});

it('A camera whose frames are no pictures is silent, with the reason', async () => {
  await register({});
  const gate = await camera('gate');
  const turns = createTurnStore(bench.redis, { retentionMs: 60 * MINUTE, now: () => now });
  const cut = EMPTY.then((bytes) => bytes.subarray(0, bytes.length / 2));
  const send = (frame: typeof EMPTY, second: number) =>
    runsOn(() => bench)(gate, [[frame, second]], turnProcessor(bench, { turns }));
  await send(EMPTY, 0);
  for (const minute of [1, 2, 3, 4, 5]) {
    await later(1);
    await send(cut, 60 * minute);
  }
  await later(1);
  expect(await received()).toMatchObject([
    { type: 'camera.silent', data: { signal: { detail: expect.stringContaining('damaged') } } },
  ]);
  await send(WITH_CAR, 600);
  await later(1);
  expect((await received()).map(({ type }) => type)).toEqual(['camera.back']);
});
