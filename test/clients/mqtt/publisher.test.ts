/** The publisher with a real API on a real Redis, real changes of a camera, and a real broker. */
import { expect, it } from '@jest/globals';
import sharp from 'sharp';
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
import { describeWithMosquitto, subscribe } from '../../helpers/mosquitto.js';
import { useBench } from '../../helpers/workers.js';
import { DISCOVERY, HALF, OWN, SETTINGS, usePublisher } from './publisher-stack.js';

const bench = useBench();
const run = runsOn(() => bench);
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

describeWithMosquitto('the MQTT publisher', () => {
  const stack = usePublisher(bench);

  it('announces a device with its entities, and then its states', async () => {
    const payload = stack.home.json(DISCOVERY);
    expect(payload.device).toMatchObject({ identifiers: ['sd.gate'], name: 'Gate <b>3</b>' });
    expect(Object.keys(payload.components)).toEqual([
      ...['alert', 'picture', 'sentence', 'changed', 'zone_left', expect.stringMatching(/^zone_right_1-/)],
      ...['suspended', 'state'],
    ]);
    expect(stack.home.last(`${OWN}/state`)).toBe('no_frame_yet');
    expect(stack.home.last(`${OWN}/availability`)).toBe('offline');
    expect(stack.home.last(`${OWN}/suspended`)).toBe('OFF');
    expect(stack.home.last(`${OWN}/zones/left`)).toBe('OFF');
    const topics = stack.home.received.map(({ topic }) => topic);
    expect(topics.indexOf('sd/status')).toBe(topics.length - 1);
  });

  it('publishes a change: the picture first, then the states, then the alert; and its end', async () => {
    await run(stack.camera, [[EMPTY, 0], [WITH_DOG, 1]], outlining()); // biome-ignore format: one line per run
    await eventually(() => expect(stack.alerts()).toHaveLength(1));
    expect(stack.alerts()[0]).toMatchObject({
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
    const [picture] = stack.home.of(`${OWN}/picture`);
    const { data, info } = await sharp(picture?.payload).raw().toBuffer({ resolveWithObject: true });
    // The frame, and beside it the crop around the thing.
    expect(info.height).toBe(HEIGHT);
    expect(info.width).toBeGreaterThan(WIDTH + HEIGHT);
    const isLine = (i: number) => (data[i + 2] ?? 0) > 180 && (data[i] ?? 255) < 130 && (data[i + 1] ?? 0) > 150;
    expect(Array.from({ length: data.length / 3 }, (_, i) => isLine(3 * i)).filter(Boolean).length).toBeGreaterThan(20);
    expect(stack.home.json(`${OWN}/sentence`)).toMatchObject({
      state: stack.alerts()[0].sentence,
      zone_name: 'Loading bay 2',
    });
    expect(stack.home.last(`${OWN}/zones/left`)).toBe('ON');
    expect(stack.home.of(`${OWN}/zones/${'right_1-'}`)).toEqual([]);
    expect(stack.home.last(`${OWN}/changed`)).toBe('ON');
    const order = stack.home.received.map(({ topic }) => topic.split('/').at(-1)).filter((name) => name !== 'state');
    expect(order.indexOf('picture')).toBeLessThan(order.indexOf('alert'));
    expect(order.lastIndexOf('left')).toBeLessThan(order.indexOf('alert'));

    await run(stack.camera, [[EMPTY, 2]]);
    await eventually(() => expect(stack.alerts().map(({ event_type }) => event_type)).toEqual(['opened', 'reverted']));
    // The end says what is true since then.
    expect(stack.alerts()[1].sentence).toBe('Something in Loading bay 2 has gone, after 1 second.');
    await eventually(() =>
      expect(stack.home.json(`${OWN}/sentence`)).toMatchObject({ state: stack.alerts()[1].sentence }),
    );
    expect(stack.home.last(`${OWN}/zones/left`)).toBe('OFF');
    expect(stack.home.last(`${OWN}/changed`)).toBe('OFF');
  });

  it('publishes the begin and the end of a visit, which the broker does not keep', async () => {
    const walk = [4, 8, 12].map((x) => picture({ things: [[x, 20, 6, 20, RED]] }));
    const frames = [EMPTY, ...walk, ...Array.from({ length: 8 }, () => EMPTY)];
    await run(stack.camera, frames.map((frame, i) => [frame, i] as const), turnProcessor(bench, walkingPipeline())); // biome-ignore format: one line per run
    const visits = () => stack.home.of(`${OWN}/visit`).map(({ payload }) => JSON.parse(payload.toString()));
    await eventually(() => expect(visits().map(({ event_type }) => event_type)).toEqual(['opened', 'ended']));
    const [stored] = (await bench.visits.list({ kind: 'visit', limit: 1 })).items;
    expect(visits()[1]).toMatchObject({
      ...{ sentence: stored?.caption, camera: 'gate', camera_name: 'Gate <b>3</b>', visit: stored?.id },
      ...{ first_seen: '2026-06-01T12:00:01.000Z', gone: stored?.gone, identity: 'certain', changes: [] },
      ...{ link: `https://cameras.example/review/${stored?.id}`, frame: expect.stringContaining('/frames/after?exp=') },
    });
    expect(stack.home.of(`${OWN}/visit`).some(({ retained }) => retained)).toBe(false);
  });

  it('updates names, and removes zones and cameras that are gone, also those of an earlier run', async () => {
    const { zones } = SETTINGS;
    await setUpCamera(bench, 'gate', { ...SETTINGS, name: 'Yard 🚚', zones: [zones[1]] });
    await eventually(() => expect(stack.home.json(DISCOVERY).device.name).toBe('Yard 🚚'));
    // With the platform alone Home Assistant removes it.
    expect(stack.home.json(DISCOVERY).components.zone_left).toEqual({ platform: 'binary_sensor' });
    await eventually(() => expect(stack.home.last(`${OWN}/zones/left`)).toBe(''));

    await stack.publisher.close();
    await bench.cameras.erase('gate');
    stack.publisher = await stack.start();
    await eventually(() => expect(stack.home.last(DISCOVERY)).toBe(''));
    await eventually(() => expect(stack.home.last('sd/status')).toBe('online'));
    const late = await subscribe(stack.broker.url);
    await stack.home.publish('probe', 'x', true);
    await eventually(() => expect(late.received.map(({ topic }) => topic)).toContain('probe'));
    expect(late.received.map(({ topic }) => topic).filter((topic) => topic.includes('gate'))).toEqual([]);
    await late.close();
  });

  it('removes a picture whose privacy mask is out of date, and sends it masked', async () => {
    await run(stack.camera, [[EMPTY, 0], [WITH_DOG, 1]]); // biome-ignore format: one line per run
    await eventually(() => expect(stack.alerts()).toHaveLength(1));
    const privacy = { id: 'door', name: null, type: 'privacy', polygon: HALF(0) };
    await setUpCamera(bench, 'gate', { ...SETTINGS, zones: [...SETTINGS.zones, privacy] });
    await eventually(() => expect(stack.home.of(`${OWN}/picture`)).toHaveLength(3));
    const [before, removed, after] = stack.home.of(`${OWN}/picture`);
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
    const count = () => stack.home.of(DISCOVERY).length;
    const before = count();
    await stack.home.publish('homeassistant/status', 'offline');
    await stack.home.publish('homeassistant/status', 'online');
    await eventually(() => expect(count()).toBe(before + 1));
  });

  it('repeats nothing and loses nothing when it is restarted', async () => {
    await run(stack.camera, [[EMPTY, 0], [WITH_DOG, 1]]); // biome-ignore format: one line per run
    await eventually(() => expect(stack.alerts()).toHaveLength(1));
    await stack.publisher.close();
    expect(stack.home.last('sd/status')).toBe('offline');
    await run(stack.camera, [[EMPTY, 2], [WITH_CAR, 3]]); // biome-ignore format: one line per run
    stack.publisher = await stack.start();
    await eventually(() => expect(stack.alerts()).toHaveLength(3));
    expect(stack.alerts().map(({ event_type }) => event_type)).toEqual(['opened', 'reverted', 'opened']);
    expect(new Set(stack.alerts().map(({ id }) => id)).size).toBe(3);
  });

  it('publishes what happened while the broker was away, with states and picture', async () => {
    await run(stack.camera, [[EMPTY, 0], [WITH_DOG, 1]]); // biome-ignore format: one line per run
    await eventually(() => expect(stack.alerts()).toHaveLength(1));
    await stack.broker.stop();
    await run(stack.camera, [[EMPTY, 2], [WITH_CAR, 3]]); // biome-ignore format: one line per run
    stack.home.received.length = 0;
    await stack.broker.start();
    await eventually(() => expect(stack.home.last('sd/status')).toBe('online'));
    await eventually(() => expect(stack.home.last(`${OWN}/zones/left`)).toBe('OFF'));
    await eventually(() => expect(stack.home.of(`${OWN}/picture`).length).toBeGreaterThan(0));
    expect(stack.home.json(DISCOVERY).device.name).toBe('Gate <b>3</b>');
    await eventually(async () => expect(await stack.positionAt()).toBe(await stack.lastAlert()));
  });
});
