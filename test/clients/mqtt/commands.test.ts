/** Commands of the broker: the switch that suspends alerts, and the button that pulls a picture. */
import { expect, it } from '@jest/globals';
import { ScenedeltaError } from '../../../src/base/errors.js';
import type { StoredCamera } from '../../../src/camera/settings/camera.js';
import { EMPTY, runsOn, WITH_CAR, WITH_DOG } from '../../helpers/camera-runs.js';
import { setUpCamera } from '../../helpers/cameras.js';
import { eventually } from '../../helpers/eventually.js';
import { describeWithMosquitto } from '../../helpers/mosquitto.js';
import { useBench } from '../../helpers/workers.js';
import { DISCOVERY, OWN, SETTINGS, usePublisher } from './publisher-stack.js';

const bench = useBench();
const run = runsOn(() => bench);

describeWithMosquitto('the MQTT publisher', () => {
  const stack = usePublisher(bench);

  it('suspends and resumes the alerts of a camera by its switch: states without alerts', async () => {
    await stack.home.publish(`${OWN}/suspended/set`, 'ON');
    await eventually(() => expect(stack.home.last(`${OWN}/suspended`)).toBe('ON'));
    const suspended = (await bench.cameras.get('gate')) as StoredCamera;
    expect(Date.parse(suspended.settings.suspend_until ?? '')).toBeGreaterThan(Date.now() + 1e12);
    await run(suspended, [[EMPTY, 0], [WITH_DOG, 1]]); // biome-ignore format: one line per run
    await eventually(() => expect(stack.home.last(`${OWN}/zones/left`)).toBe('ON'));
    await run(suspended, [[EMPTY, 2]]);
    await eventually(() => expect(stack.home.last(`${OWN}/zones/left`)).toBe('OFF'));
    expect(stack.alerts()).toEqual([]);

    await stack.home.publish(`${OWN}/suspended/set`, 'OFF');
    await eventually(() => expect(stack.home.last(`${OWN}/suspended`)).toBe('OFF'));
    expect((await bench.cameras.get('gate'))?.settings).toMatchObject({
      ...stack.camera.settings,
      suspend_until: null,
    });
    await run(stack.camera, [[WITH_CAR, 3]]);
    await eventually(() => expect(stack.alerts()).toHaveLength(1));
  });

  it('pulls a picture when its button is pressed, and publishes the sentence about it, or why there is none', async () => {
    await stack.publisher.close();
    stack.camera = await setUpCamera(bench, 'gate', {
      ...SETTINGS,
      snapshot: { url: 'https://cam.example/a.jpg', interval_s: 60 },
    });
    stack.publisher = await stack.start();
    await eventually(() => expect(stack.home.json(DISCOVERY).components.look).toMatchObject({ platform: 'button' }));
    const { command_topic, payload_press } = stack.home.json(DISCOVERY).components.look;
    expect(stack.home.json(DISCOVERY).components.looked.state_topic).toBe(`${OWN}/snapshot`);
    await run(stack.camera, [[EMPTY, 0]]);
    let asked = 0;
    const release: (() => void)[] = [];
    stack.pulled = async () => {
      asked++;
      await new Promise<void>((resolve) => release.push(resolve));
      await run(stack.camera, [[WITH_DOG, 1]]);
      return (await bench.results.list({ camera: 'gate', limit: 1 })).items[0]?.id ?? '';
    };
    const results = () => stack.home.of(`${OWN}/snapshot`).map(({ payload }) => JSON.parse(payload.toString()));
    await stack.home.publish(command_topic, payload_press);
    await eventually(() => expect(asked).toBe(1));
    // Two presses are one picture, and other messages go on meanwhile.
    await stack.home.publish(command_topic, payload_press);
    await stack.home.publish(`${OWN}/suspended/set`, 'ON');
    await eventually(() => expect(stack.home.last(`${OWN}/suspended`)).toBe('ON'));
    for (const go of release) go();
    await eventually(() => expect(results()).toHaveLength(1));
    expect(asked).toBe(1);
    expect(results()[0]).toMatchObject({
      ...{ camera: 'gate', camera_name: 'Gate <b>3</b>', verdict: 'change', at: '2026-06-01T12:00:01.000Z' },
      ...{ sentence: results()[0].state, link: 'https://cameras.example/cameras/gate' },
      frame: expect.stringContaining('/frames/after?exp='),
    });
    expect(stack.home.of(`${OWN}/snapshot`).some(({ retained }) => retained)).toBe(false);
    stack.pulled = () => Promise.reject(new ScenedeltaError('url-unavailable', 'cam.example did not answer'));
    await stack.home.publish(command_topic, payload_press);
    await eventually(() => expect(results()).toHaveLength(2));
    expect(results()[1]).toMatchObject({ camera: 'gate', error: expect.stringContaining('cam.example') });
    for (const payload of ['ON', 'press', '']) await stack.home.publish(command_topic, payload);
    await stack.home.publish('sd/cameras/nowhere/snapshot/press', payload_press);
    await stack.home.publish(`${OWN}/suspended/set`, 'OFF');
    await eventually(() => expect(stack.home.last(`${OWN}/suspended`)).toBe('OFF'));
    expect(results()).toHaveLength(2);
  });

  it('ignores commands that are retained, unknown, or for no camera', async () => {
    for (const payload of ['on', '', '<script>']) await stack.home.publish(`${OWN}/suspended/set`, payload);
    await stack.home.publish('sd/cameras/nowhere/suspended/set', 'ON');
    await stack.home.publish('sd/cameras/a/b/suspended/set', 'ON');
    await stack.home.publish('sd/cameras/gate/suspended/set', 'ON');
    await eventually(() => expect(stack.home.last(`${OWN}/suspended`)).toBe('ON'));
    expect(stack.home.of('sd/cameras/nowhere/suspended')).toEqual([]);
  });
});
