/** The service with a real MQTT broker: from frames over HTTP to alerts, pictures and switches of Home Assistant. */
import { jest } from '@jest/globals';
import sharp from 'sharp';
import { eventually } from '../helpers/eventually.js';
import { describeWithMosquitto, type Mosquitto, startMosquitto, subscribe } from '../helpers/mosquitto.js';
import { changedPair } from '../helpers/scenes.js';
import { answerOf, ask, get, logsOf, type Service, startService } from '../helpers/service.js';

jest.setTimeout(240_000);
const LIMIT_MS = 60_000;
const LOGIN = { username: 'watchman', password: 'geheim' };
const OWN = 'scenedelta/cameras/gate-3';

let broker: Mosquitto;
let service: Service;
let home: Awaited<ReturnType<typeof subscribe>>;
let pair: { before: Buffer; after: Buffer };
let seconds = 0;

const put = async () =>
  answerOf(
    await fetch(`${service.url}/v1/cameras/gate-3`, {
      method: 'PUT',
      headers: { ...service.headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ name: 'Gate', before: 'reference', examine_every_s: 0 },
        alerts: { confirm_frames: 1, cooldown_s: 0 },
        zones: [{ id: 'all', name: 'Yard', type: 'include', polygon: [[0, 0], [1, 0], [1, 1], [0, 1]] }], // biome-ignore format: one line per zone
      }),
    }),
  );
const send = async (frame: Buffer) => {
  const form = new FormData();
  form.append('frame', new Blob([new Uint8Array(frame)]), 'frame.jpg');
  form.append('captured_at', new Date(Date.UTC(2026, 5, 1) + 1000 * seconds++).toISOString());
  const url = `${service.url}/v1/cameras/gate-3/frames`;
  const headers = { ...service.headers, prefer: 'wait=30' };
  return answerOf(await fetch(url, { method: 'POST', body: form, headers }));
};
const alerts = () => home.of(`${OWN}/alert`).map(({ payload }) => JSON.parse(payload.toString()));
const types = () => alerts().map(({ event_type }) => event_type);

describeWithMosquitto('with MQTT_URL', () => {
  beforeAll(async () => {
    pair = await changedPair();
    broker = await startMosquitto({ login: LOGIN });
    const url = broker.url.replace('//', `//${LOGIN.username}:${LOGIN.password}@`);
    service = await startService({ env: { MQTT_URL: url, LOG_LEVEL: 'trace' } });
    home = await subscribe(url);
    expect((await put()).status).toBe(201);
    await eventually(() => expect(home.last(`${OWN}/suspended`)).toBe('OFF'), LIMIT_MS);
    await eventually(() => expect(home.last('scenedelta/status')).toBe('online'), LIMIT_MS);
  });
  afterAll(async () => {
    await home?.close();
    await service?.stop();
    await broker?.close();
  });

  it('a change is an alert with its picture, and its zone is on until it ends', async () => {
    await send(pair.before);
    await send(pair.after);
    await eventually(() => expect(types()).toEqual(['opened']), LIMIT_MS);
    const [alert] = alerts();
    expect(alert).toMatchObject({ camera_name: 'Gate', zone_name: 'Yard', kind: 'appear' });
    expect((await fetch(alert.outline_after)).headers.get('content-type')).toBe('image/png');
    const picture = home.of(`${OWN}/picture`)[0]?.payload;
    const [shown, sent] = await Promise.all([sharp(picture).metadata(), sharp(pair.after).metadata()]);
    // The frame, and beside it the crop around the thing.
    expect(shown).toMatchObject({ format: 'jpeg', height: sent.height });
    expect(shown.width).toBeGreaterThan(sent.width + sent.height);
    expect(home.last(`${OWN}/zones/all`)).toBe('ON');
    expect(home.last(`${OWN}/state`)).not.toBe('no_frame_yet');
    await send(pair.before);
    await eventually(() => expect(types()).toEqual(['opened', 'reverted']), LIMIT_MS);
    expect(home.last(`${OWN}/zones/all`)).toBe('OFF');
  });

  it('the switch suspends the alerts of the service itself', async () => {
    await home.publish(`${OWN}/suspended/set`, 'ON');
    await eventually(() => expect(home.last(`${OWN}/suspended`)).toBe('ON'));
    expect((await get(service, '/v1/cameras/gate-3')).body.suspend_until).toMatch(/^9999-/);
    await send(pair.after);
    await eventually(() => expect(home.last(`${OWN}/zones/all`)).toBe('ON'), LIMIT_MS);
    await send(pair.before);
    await eventually(() => expect(home.last(`${OWN}/zones/all`)).toBe('OFF'), LIMIT_MS);
    expect(types()).toEqual(['opened', 'reverted']);
    expect((await get(service, '/v1/changes?camera=gate-3')).body.items[0].alerted_at).toBeNull();
    await home.publish(`${OWN}/suspended/set`, 'OFF');
    await eventually(() => expect(home.last(`${OWN}/suspended`)).toBe('OFF'));
  });

  it('a killed publisher is reported by the last will, is started again, and repeats nothing', async () => {
    const { mqtt } = (await ask(service.dataDir)).processes as unknown as { mqtt: number };
    process.kill(mqtt, 'SIGKILL');
    await eventually(() => expect(home.last('scenedelta/status')).toBe('offline'));
    await send(pair.after);
    await eventually(() => expect(types()).toEqual(['opened', 'reverted', 'opened']), LIMIT_MS);
    await eventually(() => expect(home.last('scenedelta/status')).toBe('online'), LIMIT_MS);
    expect(new Set(alerts().map(({ id }) => id)).size).toBe(3);
  });

  it('the service does not need the broker; afterwards everything arrives, and no log has the login', async () => {
    await broker.stop();
    expect((await send(pair.before)).status).toBe(200);
    expect((await get(service, '/readyz')).status).toBe(200);
    await broker.start();
    await eventually(() => expect(home.last('scenedelta/status')).toBe('online'), LIMIT_MS);
    await eventually(() => expect(home.last(`${OWN}/zones/all`)).toBe('OFF'), LIMIT_MS);
    const log = logsOf(service.dataDir);
    expect(log).toMatch(/connected to the broker/);
    expect(log).not.toMatch(/watchman|geheim/);
    await service.stop();
    await eventually(() => expect(home.last('scenedelta/status')).toBe('offline'));
  });
});
