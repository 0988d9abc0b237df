/** The publisher with a real API on a real Redis, real changes of a camera, and a real broker. */

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import sharp from 'sharp';
import { brokerSettings } from '../../../clients/src/mqtt/settings.js';
import { startPublisher } from '../../../clients/src/mqtt/start.js';
import { openState } from '../../../clients/src/mqtt/state.js';
import { serviceAt } from '../../../clients/src/service.js';
import type { StoredCamera } from '../../../src/camera/settings/camera.js';
import { createWorkerRegistry } from '../../../src/stores/redis/workers.js';
import { EMPTY, runsOn, WITH_CAR, WITH_DOG } from '../../helpers/camera-runs.js';
import {
  HEIGHT,
  picture,
  pixelPipeline,
  RED,
  setUpCamera,
  turnProcessor,
  WIDTH,
  walkingPipeline,
} from '../../helpers/cameras.js';
import { eventually } from '../../helpers/eventually.js';
import { describeWithMosquitto, type Mosquitto, startMosquitto, subscribe } from '../../helpers/mosquitto.js';
import { startApi } from '../../helpers/real-api.js';
import { useBench } from '../../helpers/workers.js';

/** The API is built in this process, which a busy machine does slowly. */
jest.setTimeout(120_000);
const bench = useBench();
const run = runsOn(() => bench);
let broker: Mosquitto;
let home: Awaited<ReturnType<typeof subscribe>>;
let publisher: { close(): Promise<void> };
let camera: StoredCamera;
let api: Awaited<ReturnType<typeof startApi>>;
let file: string;

const HALF = (left: number) => [
  [left, 0],
  [left + 0.5, 0],
  [left + 0.5, 1],
  [left, 1],
];
const SETTINGS = {
  name: 'Gate <b>3</b>',
  before: 'reference',
  alerts: { confirm_frames: 1 },
  zones: [
    { id: 'left', name: 'Loading bay 2', type: 'include', polygon: HALF(0) },
    { id: 'right.1', name: null, type: 'include', polygon: HALF(0.5) },
  ],
};
const OWN = 'sd/cameras/gate';
const DISCOVERY = 'homeassistant/device/sd_gate/config';

const start = async () => {
  const { secret } = await api.stores.apiKeys.create({ name: 'mqtt', scopes: ['compare', 'admin'] });
  return startPublisher({
    serviceWith: (stop) => serviceAt(api.url, `Bearer ${secret}`, stop),
    baseUrl: 'https://cameras.example',
    settings: await brokerSettings({ mqttUrl: broker.url, mqttTopic: 'sd' }),
    state: await openState(file),
    base: 'sd',
    prefix: 'homeassistant',
    pictureLimit: 100_000,
    log: () => {},
    pollMs: 50,
    retries: { firstRetryMs: 20, longestRetryMs: 100 },
  });
};
/** A pipeline that gives the changed pixels a heatmap, so that there is something to outline. */
const outlining = () => {
  const { pipeline } = pixelPipeline();
  return turnProcessor(bench, {
    pipeline: {
      ...pipeline,
      async compare(input) {
        const compared = await pipeline.compare(input);
        const map = { width: 3, height: 2, data: new Float32Array([0, 0, 0, 1, 0, 0]) };
        return { ...compared, heatmaps: { before: map, after: map, words: { before: [], after: [] } } };
      },
    },
  });
};
/** @returns the position of the state file, and the id of the last alert in the stream */
const positionAt = async () => JSON.parse(await readFile(file, 'utf8')).position;
const lastAlert = async () =>
  (await bench.redis.xrevrange('sd:events', '+', '-')).find(([, [, json]]) => /"alert\./.test(json ?? ''))?.[0];
const alerts = () => home.of(`${OWN}/alert`).map(({ payload }) => JSON.parse(payload.toString()));

describeWithMosquitto('the MQTT publisher', () => {
  beforeAll(async () => {
    broker = await startMosquitto();
    api = await startApi(bench, { AUTH: 'on', PUBLIC_URL: 'https://cameras.example' });
    await bench.redis.flushall();
  });
  afterAll(async () => {
    await api.close();
    await broker.close();
  });
  beforeEach(async () => {
    await broker.stop();
    await broker.start();
    home = await subscribe(broker.url);
    camera = await setUpCamera(bench, 'gate', SETTINGS);
    await createWorkerRegistry(bench.redis).beat({
      ...{ id: 'w', host: 'h', pid: 1, started_at: new Date().toISOString() },
      models: [{} as never],
    });
    file = join(bench.folder, `${randomUUID()}.json`);
    publisher = await start();
    await eventually(() => expect(home.last('sd/status')).toBe('online'));
  });
  afterEach(async () => {
    await publisher.close();
    await home.close();
  });

  it('announces a device with its entities, and then its states', async () => {
    const payload = home.json(DISCOVERY);
    expect(payload.device).toMatchObject({ identifiers: ['sd.gate'], name: 'Gate <b>3</b>' });
    expect(Object.keys(payload.components)).toEqual([
      ...['alert', 'picture', 'sentence', 'changed', 'zone_left', expect.stringMatching(/^zone_right_1-/)],
      ...['suspended', 'state'],
    ]);
    expect(home.last(`${OWN}/state`)).toBe('no_frame_yet');
    expect(home.last(`${OWN}/availability`)).toBe('offline');
    expect(home.last(`${OWN}/suspended`)).toBe('OFF');
    expect(home.last(`${OWN}/zones/left`)).toBe('OFF');
    const topics = home.received.map(({ topic }) => topic);
    expect(topics.indexOf('sd/status')).toBe(topics.length - 1);
  });

  it('publishes a change: the picture first, then the states, then the alert; and its end', async () => {
    await run(camera, [[EMPTY, 0], [WITH_DOG, 1]], outlining()); // biome-ignore format: one line per run
    await eventually(() => expect(alerts()).toHaveLength(1));
    expect(alerts()[0]).toMatchObject({
      ...{
        event_type: 'opened',
        sentence: expect.stringContaining('Something has appeared'),
        kind: 'appear',
        severity: 'medium',
      },
      ...{ zone: 'left', zone_name: 'Loading bay 2', confidence: 0.95, camera: 'gate', at: '2026-06-01T12:00:01.000Z' },
      link: expect.stringMatching(/^https:\/\/cameras\.example\/review\/chg_/),
      frame_after: expect.stringMatching(
        /^https:\/\/cameras\.example\/v1\/comparisons\/cmp_.*\/frames\/after\?exp=.*sig=/,
      ),
      outline_after: expect.stringContaining('/heatmaps/after?'),
    });
    const [picture] = home.of(`${OWN}/picture`);
    const { data, info } = await sharp(picture?.payload).raw().toBuffer({ resolveWithObject: true });
    // The frame, and beside it the crop around the thing.
    expect(info.height).toBe(HEIGHT);
    expect(info.width).toBeGreaterThan(WIDTH + HEIGHT);
    const isLine = (i: number) => (data[i + 2] ?? 0) > 180 && (data[i] ?? 255) < 130 && (data[i + 1] ?? 0) > 150;
    expect(Array.from({ length: data.length / 3 }, (_, i) => isLine(3 * i)).filter(Boolean).length).toBeGreaterThan(20);
    expect(home.json(`${OWN}/sentence`)).toMatchObject({ state: alerts()[0].sentence, zone_name: 'Loading bay 2' });
    expect(home.last(`${OWN}/zones/left`)).toBe('ON');
    expect(home.of(`${OWN}/zones/${'right_1-'}`)).toEqual([]);
    expect(home.last(`${OWN}/changed`)).toBe('ON');
    const order = home.received.map(({ topic }) => topic.split('/').at(-1)).filter((name) => name !== 'state');
    expect(order.indexOf('picture')).toBeLessThan(order.indexOf('alert'));
    expect(order.lastIndexOf('left')).toBeLessThan(order.indexOf('alert'));

    await run(camera, [[EMPTY, 2]]);
    await eventually(() => expect(alerts().map(({ event_type }) => event_type)).toEqual(['opened', 'reverted']));
    // The end says what is true since then.
    expect(alerts()[1].sentence).toBe('Something in Loading bay 2 has gone, after 1 second.');
    await eventually(() => expect(home.json(`${OWN}/sentence`)).toMatchObject({ state: alerts()[1].sentence }));
    expect(home.last(`${OWN}/zones/left`)).toBe('OFF');
    expect(home.last(`${OWN}/changed`)).toBe('OFF');
  });

  it('publishes the begin and the end of a visit, which the broker does not keep', async () => {
    const walk = [4, 8, 12].map((x) => picture({ things: [[x, 20, 6, 20, RED]] }));
    const frames = [EMPTY, ...walk, ...Array.from({ length: 8 }, () => EMPTY)];
    await run(camera, frames.map((frame, i) => [frame, i] as const), turnProcessor(bench, walkingPipeline())); // biome-ignore format: one line per run
    const visits = () => home.of(`${OWN}/visit`).map(({ payload }) => JSON.parse(payload.toString()));
    await eventually(() => expect(visits().map(({ event_type }) => event_type)).toEqual(['opened', 'ended']));
    const [stored] = (await bench.visits.list({ kind: 'visit', limit: 1 })).items;
    expect(visits()[1]).toMatchObject({
      ...{ sentence: stored?.caption, camera: 'gate', camera_name: 'Gate <b>3</b>', visit: stored?.id },
      ...{ first_seen: '2026-06-01T12:00:01.000Z', gone: stored?.gone, identity: 'certain', changes: [] },
      ...{ link: `https://cameras.example/review/${stored?.id}`, frame: expect.stringContaining('/frames/after?exp=') },
    });
    expect(home.of(`${OWN}/visit`).some(({ retained }) => retained)).toBe(false);
  });

  it('suspends and resumes the alerts of a camera by its switch: states without alerts', async () => {
    await home.publish(`${OWN}/suspended/set`, 'ON');
    await eventually(() => expect(home.last(`${OWN}/suspended`)).toBe('ON'));
    const suspended = (await bench.cameras.get('gate')) as StoredCamera;
    expect(Date.parse(suspended.settings.suspend_until ?? '')).toBeGreaterThan(Date.now() + 1e12);
    await run(suspended, [[EMPTY, 0], [WITH_DOG, 1]]); // biome-ignore format: one line per run
    await eventually(() => expect(home.last(`${OWN}/zones/left`)).toBe('ON'));
    await run(suspended, [[EMPTY, 2]]);
    await eventually(() => expect(home.last(`${OWN}/zones/left`)).toBe('OFF'));
    expect(alerts()).toEqual([]);

    await home.publish(`${OWN}/suspended/set`, 'OFF');
    await eventually(() => expect(home.last(`${OWN}/suspended`)).toBe('OFF'));
    expect((await bench.cameras.get('gate'))?.settings).toMatchObject({ ...camera.settings, suspend_until: null });
    await run(camera, [[WITH_CAR, 3]]);
    await eventually(() => expect(alerts()).toHaveLength(1));
  });

  it('ignores commands that are retained, unknown, or for no camera', async () => {
    for (const payload of ['on', '', '<script>']) await home.publish(`${OWN}/suspended/set`, payload);
    await home.publish('sd/cameras/nowhere/suspended/set', 'ON');
    await home.publish('sd/cameras/a/b/suspended/set', 'ON');
    await home.publish('sd/cameras/gate/suspended/set', 'ON');
    await eventually(() => expect(home.last(`${OWN}/suspended`)).toBe('ON'));
    expect(home.of('sd/cameras/nowhere/suspended')).toEqual([]);
  });

  it('updates names, and removes zones and cameras that are gone, also those of an earlier run', async () => {
    const { zones } = SETTINGS;
    await setUpCamera(bench, 'gate', { ...SETTINGS, name: 'Yard 🚚', zones: [zones[1]] });
    await eventually(() => expect(home.json(DISCOVERY).device.name).toBe('Yard 🚚'));
    // With the platform alone Home Assistant removes it.
    expect(home.json(DISCOVERY).components.zone_left).toEqual({ platform: 'binary_sensor' });
    await eventually(() => expect(home.last(`${OWN}/zones/left`)).toBe(''));

    await publisher.close();
    await bench.cameras.erase('gate');
    publisher = await start();
    await eventually(() => expect(home.last(DISCOVERY)).toBe(''));
    await eventually(() => expect(home.last('sd/status')).toBe('online'));
    const late = await subscribe(broker.url);
    await home.publish('probe', 'x', true);
    await eventually(() => expect(late.received.map(({ topic }) => topic)).toContain('probe'));
    expect(late.received.map(({ topic }) => topic).filter((topic) => topic.includes('gate'))).toEqual([]);
    await late.close();
  });

  it('removes a picture whose privacy mask is out of date, and sends it masked', async () => {
    await run(camera, [[EMPTY, 0], [WITH_DOG, 1]]); // biome-ignore format: one line per run
    await eventually(() => expect(alerts()).toHaveLength(1));
    const privacy = { id: 'door', name: null, type: 'privacy', polygon: HALF(0) };
    await setUpCamera(bench, 'gate', { ...SETTINGS, zones: [...SETTINGS.zones, privacy] });
    await eventually(() => expect(home.of(`${OWN}/picture`)).toHaveLength(3));
    const [before, removed, after] = home.of(`${OWN}/picture`);
    expect(removed?.payload.byteLength).toBe(0);
    const greenOf = async (jpeg?: Buffer) => {
      const left = sharp(jpeg).extract({ left: 0, top: 0, width: WIDTH / 2 - 8, height: HEIGHT });
      return (await sharp(await left.png().toBuffer()).stats()).channels[1]?.mean;
    };
    expect(await greenOf(before?.payload)).toBeGreaterThan(100);
    expect(await greenOf(after?.payload)).toBeLessThan(5);
    // The broker removes it when the retention of the frame ends.
    expect(after?.expiryS).toBeGreaterThan(23 * 3_600);
    expect(after?.expiryS).toBeLessThanOrEqual(24 * 3_600);
  });

  it('announces again when Home Assistant starts', async () => {
    const count = () => home.of(DISCOVERY).length;
    const before = count();
    await home.publish('homeassistant/status', 'offline');
    await home.publish('homeassistant/status', 'online');
    await eventually(() => expect(count()).toBe(before + 1));
  });

  it('repeats nothing and loses nothing when it is restarted', async () => {
    await run(camera, [[EMPTY, 0], [WITH_DOG, 1]]); // biome-ignore format: one line per run
    await eventually(() => expect(alerts()).toHaveLength(1));
    await publisher.close();
    expect(home.last('sd/status')).toBe('offline');
    await run(camera, [[EMPTY, 2], [WITH_CAR, 3]]); // biome-ignore format: one line per run
    publisher = await start();
    await eventually(() => expect(alerts()).toHaveLength(3));
    expect(alerts().map(({ event_type }) => event_type)).toEqual(['opened', 'reverted', 'opened']);
    expect(new Set(alerts().map(({ id }) => id)).size).toBe(3);
  });

  it('publishes what happened while the broker was away, with states and picture', async () => {
    await run(camera, [[EMPTY, 0], [WITH_DOG, 1]]); // biome-ignore format: one line per run
    await eventually(() => expect(alerts()).toHaveLength(1));
    await broker.stop();
    await run(camera, [[EMPTY, 2], [WITH_CAR, 3]]); // biome-ignore format: one line per run
    home.received.length = 0;
    await broker.start();
    await eventually(() => expect(home.last('sd/status')).toBe('online'));
    await eventually(() => expect(home.last(`${OWN}/zones/left`)).toBe('OFF'));
    await eventually(() => expect(home.of(`${OWN}/picture`).length).toBeGreaterThan(0));
    expect(home.json(DISCOVERY).device.name).toBe('Gate <b>3</b>');
    await eventually(async () => expect(await positionAt()).toBe(await lastAlert()));
  });
});
