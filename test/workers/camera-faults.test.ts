/**
 * Cameras that fail, in each way in which they send frames and for each reason: receivers and MQTT get one message
 * within the stated time, and one when the camera is back. Hours pass by a clock that the test moves.
 */
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import { createFrameFetcher } from '../../src/frames/fetch.js';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import { createOutboundClient, type OutboundClient } from '../../src/outbound/client.js';
import { createStandstillStore } from '../../src/stores/cameras/standstills.js';
import { createTurnStore } from '../../src/stores/cameras/turns.js';
import { createSnapshotPuller } from '../../src/workers/camera-snapshot.js';
import { createStandstillWatch } from '../../src/workers/standstills.js';
import { setUpCamera, turnProcessor, workOff } from '../helpers/cameras.js';
import { useEndpointDeliveries } from '../helpers/endpoint-deliveries.js';
import { storedEndpoint } from '../helpers/endpoints.js';
import { eventually } from '../helpers/eventually.js';
import { CAMERAS, FAULTS, type FailingCamera, type Fault, INTERVAL_S, SLOW } from '../helpers/failing-cameras.js';
import { describeWithMosquitto, type Mosquitto, startMosquitto, subscribe } from '../helpers/mosquitto.js';
import { startTestPublisher } from '../helpers/publisher.js';
import { startApi } from '../helpers/real-api.js';
import { logger } from '../helpers/workers.js';

jest.setTimeout(300_000);
const HOUR_MS = 3_600_000;
/** Limits of the settings by default. */
const [SILENT_S, STUCK_S] = [300, 300];
/** Time between two runs of the watch. */
const WATCH_S = 50;
// No receiver hangs here, and the machine may be busy.
const world = useEndpointDeliveries(30_000);
const { bench, queue, register } = world;
/** Time limits of a pull in ms: of a camera that fails, and of one that works, where a busy machine starts ffmpeg. */
const TIMEOUTS = { failing: 4_000, working: 30_000 };
let now: number;
let outbound: Record<keyof typeof TIMEOUTS, OutboundClient>;
let api: Awaited<ReturnType<typeof startApi>>;
let broker: Mosquitto;
let home: Awaited<ReturnType<typeof subscribe>>;
let publisher: Awaited<ReturnType<typeof startTestPublisher>>;
let mailServer: SMTPServer;
let mails: string[];
let camera: FailingCamera;

beforeAll(async () => {
  const rtsp = { ffmpeg: 'ffmpeg', pixelLimit: 1_000_000 };
  const client = (outboundTimeoutMs: number) =>
    createOutboundClient({ outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs }, { rtsp });
  outbound = { failing: client(TIMEOUTS.failing), working: client(TIMEOUTS.working) };
  broker = await startMosquitto();
  api = await startApi(bench, { AUTH: 'on' }, { clock: () => now });
  mailServer = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['STARTTLS'] },
    async onData(stream, _session, done) {
      let text = '';
      for await (const chunk of stream) text += chunk;
      mails.push(text);
      done(null);
    },
  });
  await new Promise<void>((done) => mailServer.listen(0, '127.0.0.1', done));
});
afterAll(async () => {
  await new Promise<void>((done) => mailServer.close(() => done()));
  await api.close();
  await broker.close();
  await outbound.failing.close();
  await outbound.working.close();
});
beforeEach(async () => {
  // Nothing lies in the future of the clocks that the test does not move.
  now = Date.now() - HOUR_MS / 2;
  mails = [];
  home = await subscribe(broker.url);
  await register({}, '/webhook');
  await register({ format: 'alertmanager' }, '/alertmanager');
  await register({ format: 'pagerduty' }, '/pagerduty');
  const { port } = mailServer.server.address() as AddressInfo;
  const mail = `smtp://127.0.0.1:${port}?from=a@b.example&to=c@d.example`;
  await world.endpoints.create(storedEndpoint(mail, { format: 'email' }));
});
afterEach(async () => {
  await camera.close();
  await publisher.close();
  await home.close();
});

/** The messages that each receiver has got since the last call, in a word. */
async function received() {
  world.now = now;
  for (const id of world.queued.splice(0)) expect(await world.run(id)).toEqual({ kind: 'delivered' });
  const got = world.receiver.received.splice(0).map(({ path, body }) => ({ path, json: JSON.parse(body) }));
  const of = (path: string) => got.filter((one) => one.path.startsWith(path)).map(({ json }) => json);
  return {
    webhook: of('/webhook').map(({ type }) => type),
    alertmanager: of('/alertmanager').map((alerts) => (Date.parse(alerts.at(-1).endsAt) > now ? 'fires' : 'resolved')),
    pagerduty: of('/pagerduty').map(({ event_action }) => event_action),
    mail: mails.splice(0).map((text) => /^Subject: (.*)$/m.exec(text)?.[1]),
    mqtt: home.of('sd/cameras/gate/alert').map(({ payload }) => JSON.parse(payload.toString()).event_type),
  };
}
const NOTHING = { webhook: [], alertmanager: [], pagerduty: [], mail: [], mqtt: [] };

describeWithMosquitto.each(Object.keys(CAMERAS) as (keyof typeof CAMERAS)[])('A camera by %s', (kind) => {
  const limits = { silent: SILENT_S, stuck: STUCK_S };
  it.each(FAULTS)('that fails (%s) is one message, and one when it is back', async (fault: Fault) => {
    const { secret } = await api.stores.apiKeys.create({ name: 'all', scopes: ['admin'] });
    camera = await CAMERAS[kind]({ url: api.url, path: '/v1/cameras/gate/frames', key: secret });
    const alerts = { severity_rules: [{ severity: 'info' }] };
    const settings = { snapshot: camera.snapshot, alerts, examine_every_s: 60, locale: 'de' as const };
    await setUpCamera(bench, 'gate', settings);
    publisher = await startTestPublisher(api.url, secret, broker.url, join(bench.folder, `${kind} ${fault}.json`));
    const enqueueDelivery = createEnqueueDelivery({ ...bench, endpoints: world.endpoints, queue });
    const clock = () => now;
    const pullerBy = (client: OutboundClient) =>
      createSnapshotPuller({
        ...bench,
        fetchFrame: createFrameFetcher({
          ...bench,
          outbound: client,
          s3: undefined,
          config: { frameLimit: 1e6, pixelLimit: 1e6 },
        }),
        queue: { addTurn: async () => {} },
        ...{ loginKey: Buffer.alloc(32), holdMs: 60_000, cameraDeadline: 0, clock, logger },
      });
    const pullers = { failing: pullerBy(outbound.failing), working: pullerBy(outbound.working) };
    let puller = pullers.working;
    const turns = createTurnStore(bench.redis, { retentionMs: HOUR_MS, now: clock });
    const processor = turnProcessor(bench, { turns, clock, enqueueDelivery });
    const standstills = createStandstillStore(bench.redis, { retentionMs: HOUR_MS, now: clock });
    const watch = createStandstillWatch({ standstills, cameras: bench.cameras, enqueueDelivery, clock, logger });
    const frame = async () => {
      if (camera.snapshot === null) await camera.post(now);
      else await puller.scheduled({ v: 2, camera: 'gate' });
      await workOff('gate', processor);
    };
    let elapsed = 0;
    const wait = async (seconds: number, every = INTERVAL_S) => {
      for (const end = elapsed + seconds; elapsed < end; ) {
        elapsed += WATCH_S;
        now += WATCH_S * 1000;
        if (elapsed % every === 0) await frame();
        await watch();
      }
    };

    await frame();
    await wait(INTERVAL_S);
    await camera.fail(fault);
    const reason = fault === 'same picture' ? 'stuck' : 'silent';
    if (reason === 'silent') puller = pullers.failing;
    // Pulls that take real time are tried rarely.
    const every = SLOW.has(fault) ? 4 * INTERVAL_S : INTERVAL_S;
    await wait(limits[reason] - WATCH_S, every);
    expect(await received()).toEqual(NOTHING);
    await wait(2 * WATCH_S, every);
    const title = reason === 'stuck' ? 'Bild steht still' : 'Kein Bild';
    const once = {
      webhook: [`camera.${reason}`],
      alertmanager: ['fires'],
      pagerduty: ['trigger'],
      mail: [`gate: ${title}`],
    };
    await eventually(() => expect(home.of('sd/cameras/gate/alert')).toHaveLength(1));
    expect(await received()).toEqual({ ...once, mqtt: [reason] });
    await wait(3 * INTERVAL_S, every);
    expect(await received()).toEqual({ ...NOTHING, mqtt: [reason] });

    await camera.mend();
    puller = pullers.working;
    await wait(INTERVAL_S + WATCH_S);
    await eventually(() => expect(home.of('sd/cameras/gate/alert')).toHaveLength(2));
    expect(await received()).toEqual({
      ...{
        webhook: ['camera.back'],
        alertmanager: ['resolved'],
        pagerduty: ['resolve'],
        mail: ['gate: Bild wieder da'],
      },
      mqtt: [reason, 'back'],
    });
    const sentences = home.of('sd/cameras/gate/alert').map(({ payload }) => JSON.parse(payload.toString()).sentence);
    expect(sentences).toEqual([
      `Die Kamera ${reason === 'stuck' ? 'wiederholt ein einziges Bild' : 'schickt kein Bild'}.`,
      expect.stringMatching(/^Das Bild der Kamera ist wieder da; es fehlte seit .+[^.]\.$/),
    ]);
  });
});
