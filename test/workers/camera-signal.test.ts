/** The signal of a live camera: lost and back as messages to the endpoints that ask for them, in every format. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import { healthMessage } from '../../src/camera/settings/signal-message.js';
import { wantsMessage } from '../../src/endpoints/filter.js';
import { settingsWith } from '../../src/endpoints/settings.js';
import sharp from '../../src/frames/sharp.js';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import { KEYS } from '../../src/stores/redis/keys.js';
import { EMPTY, runsOn } from '../helpers/camera-runs.js';
import { setUpCamera, turnProcessor } from '../helpers/cameras.js';
import { useEndpointDeliveries } from '../helpers/endpoint-deliveries.js';

const world = useEndpointDeliveries();
const { bench, queue, register, run } = world;
const SIGNAL = { events: ['camera.signal_lost' as const, 'camera.signal_back' as const] };

/** The card of a recorder; each has another colour. */
const card = (blue: number) =>
  sharp({ create: { width: 320, height: 240, channels: 3, background: { r: 0, g: 0, b: blue } } })
    .png()
    .toBuffer();

/** Two frames of the scene, three cards, and the scene again. */
async function outage(settings: object = {}) {
  const camera = await setUpCamera(bench, 'gate', { before: 'previous', alerts: { confirm_frames: 2 }, ...settings });
  const frames = [EMPTY, EMPTY, card(160), card(170), card(180), EMPTY];
  const enqueueDelivery = createEnqueueDelivery({ ...bench, endpoints: world.endpoints, queue });
  await runsOn(() => bench)(
    camera,
    frames.map((frame, second) => [frame, second] as const),
    turnProcessor(bench, { enqueueDelivery }),
  );
}
const deliver = async () => {
  for (const id of world.queued) expect(await run(id)).toEqual({ kind: 'delivered' });
  return world.receiver.received.map(({ body }) => JSON.parse(body));
};

beforeEach(() => bench.redis.del(KEYS.events));

describe('A lost signal', () => {
  it('and its return go to the endpoints that ask for them, and to no others', async () => {
    await register({ events: ['visit.opened'] });
    const { id: endpoint } = await register(SIGNAL);
    await outage();
    const sent = await Promise.all(world.queued.map((id) => bench.deliveries.get(id)));
    expect(sent).toMatchObject([
      { subject: { id: 'camera:gate' }, event: 'camera.signal_lost', endpoint },
      { subject: { id: 'camera:gate' }, event: 'camera.signal_back', endpoint },
    ]);
    const signal = { camera: 'gate', reason: 'signal_lost', since: '2026-06-01T12:00:02.000Z' };
    const caption = 'The signal of the camera is lost.';
    expect(await deliver()).toMatchObject([
      { type: 'camera.signal_lost', timestamp: '2026-06-01T12:00:03.000Z', data: { signal: { ...signal, caption } } },
      { type: 'camera.signal_back', timestamp: '2026-06-01T12:00:05.000Z', data: { signal } },
    ]);
  });

  it.each([
    ['slack', ['Tor: Signal verloren', 'Tor: Signal wieder da'], ({ attachments: [{ title }] }: Json) => title],
    ['ntfy', ['Das Signal der Kamera fehlt.', 'Das Bild der Kamera ist wieder da'], ({ message }: Json) => message],
    ['teams', ['Signal verloren', 'wieder da'], ({ attachments }: Json) => JSON.stringify(attachments)],
    ['telegram', ['Tor: Signal verloren', 'Tor: Signal wieder da'], ({ text }: Json) => text],
    [
      'pagerduty',
      ['trigger camera:gate', 'resolve camera:gate'],
      (one: Json) => `${one.event_action} ${one.dedup_key}`,
    ],
    ['alertmanager', ['CameraSignalLost', 'CameraSignalLost'], ([{ labels }]: Json) => labels.alertname],
  ] as const)('is a message of %s, with a link to the camera', async (format, expected, shown) => {
    const path = format === 'telegram' ? '/bot1:a?chat_id=2' : '/topic';
    await register({ ...SIGNAL, format, locale: 'de' }, path, { authorization: 'a'.repeat(32) });
    await outage({ name: 'Tor' });
    const bodies = await deliver();
    expect(bodies).toHaveLength(2);
    for (const [i, body] of bodies.entries()) {
      expect(shown(body)).toContain(expected[i]);
      expect(JSON.stringify(body)).toContain('https://cameras.example/cameras/gate');
    }
  });

  it('of a camera whose alerts are suspended is not sent; its return is', async () => {
    await register(SIGNAL);
    await outage({ suspend_until: '2099-01-01T00:00:00Z' });
    expect((await deliver()).map(({ type }) => type)).toEqual(['camera.signal_back']);
  });

  it('is erased with its camera', async () => {
    await register(SIGNAL);
    await outage();
    const [delivery = ''] = world.queued;
    expect(await bench.deliveries.get(delivery)).toBeDefined();
    await bench.changes.eraseOf('gate');
    expect(await bench.deliveries.get(delivery)).toBeUndefined();
    expect(await bench.redis.zrange(KEYS.alertsByTime, '0', '-1')).toEqual([]);
  });
});
// biome-ignore lint/suspicious/noExplicitAny: a receiver reads what comes
type Json = any;

it('An endpoint filters signals by camera and words, and by no property of changes', () => {
  const at = '2026-06-01T12:00:03.000Z';
  const event = { type: 'camera.signal_lost', camera: 'gate', reason: 'signal_lost', since: at, at } as const;
  const message = healthMessage(event, 0);
  const wants = (given: object) => wantsMessage(settingsWith({ ...SIGNAL, ...given }), message);
  const filters = [
    { zones: ['door'], min_severity: 'high' },
    { cameras: ['yard'] },
    { text: 'dog' },
    { enabled: false },
  ];
  expect(filters.map(wants)).toEqual([true, false, false, false]);
});
