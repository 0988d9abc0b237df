/** Briefs by mail, on virtual time, with a mail server on loopback. */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import type { EndpointPatch } from '../../src/endpoints/settings.js';
import { createEnqueueDelivery } from '../../src/jobs/enqueue-delivery.js';
import { createDayStore } from '../../src/stores/changes/days.js';
import { createBriefMails } from '../../src/workers/deliveries/brief-mails.js';
import { setUpCamera } from '../helpers/cameras.js';
import { foundChange, opening, saveTurnChanges } from '../helpers/changes.js';
import { useEndpointDeliveries } from '../helpers/endpoint-deliveries.js';
import { storedEndpoint } from '../helpers/endpoints.js';
import { logger } from '../helpers/workers.js';

const world = useEndpointDeliveries();
/** With the texts as people read them: quoted-printable is undone. */
const mails: string[] = [];
const readable = (mail: Buffer): string => {
  const bytes = mail.toString('latin1').replace(/=\r\n/g, '');
  return Buffer.from(
    bytes.replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();
};
let server: SMTPServer;
let address: string;
beforeAll(async () => {
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    async onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      mails.push(readable(Buffer.concat(chunks)));
      done(null);
    },
  });
  server.on('error', () => {});
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.server.address() as AddressInfo;
  address = `smtp://127.0.0.1:${port}?from=cameras@site.example&to=guard@site.example`;
});
afterAll(() => new Promise<void>((done) => server.close(() => done())));

/** Seven o'clock of the 6th in Berlin; the change is of noon (UTC) of the 5th. */
const SEVEN = Date.parse('2026-01-06T06:00:00Z');
const [SECOND, HOUR] = [1_000, 3_600_000];
beforeEach(async () => {
  mails.length = 0;
  world.now = SEVEN - 30 * SECOND;
  await setUpCamera(world.bench, 'yard', { labels: ['north'] });
  await saveTurnChanges(world.bench.redis, {
    changes: [opening(foundChange({ caption: 'A car has appeared.' }))],
    alerts: [],
  });
});

const register = async (given: EndpointPatch = {}) => {
  const brief = { hour: 7, time_zone: 'Europe/Berlin' };
  const endpoint = storedEndpoint(address, { format: 'email', events: [], brief, ...given });
  const at = '2026-01-05T20:00:00.000Z';
  await world.endpoints.create({ ...endpoint, created_at: at, updated_at: at });
  return endpoint.id;
};
type Dependencies = Parameters<typeof createBriefMails>[0];
const maker = (changes: Partial<Dependencies> = {}) => {
  const { bench, endpoints, queue } = world;
  return createBriefMails({
    ...bench,
    days: createDayStore(bench.redis),
    endpoints,
    enqueueDelivery: createEnqueueDelivery({ ...bench, endpoints, queue }),
    clock: () => world.now,
    logger,
    ...changes,
  });
};
const deliveriesOf = async (id: string) => (await world.bench.deliveries.ofEndpoint(id, { limit: 9 })).items;
const deliverAll = async (id: string) => {
  for (const delivery of await deliveriesOf(id)) expect(await world.run(delivery.id)).toEqual({ kind: 'delivered' });
};

it('is sent once at its hour, the paragraph first, then the crops; and again a day later', async () => {
  const id = await register({ locale: 'de' });
  const make = maker();
  expect(await make()).toBe(0);
  world.now = SEVEN + 10 * SECOND;
  expect([await make(), await make()]).toEqual([1, 0]);
  await deliverAll(id);
  await deliverAll(id);
  expect(mails).toHaveLength(1);
  const [mail = ''] = mails;
  expect(mail).toMatch(/^Subject: .*2026-01-06\r$/m);
  const [paragraph, picture] = [mail.indexOf('Ein ruhiger Tag'), mail.indexOf('<img src="cid:crop-0"')];
  expect(mail.slice(paragraph, paragraph + 200)).toContain('13:00');
  expect([paragraph > 0, picture > mail.lastIndexOf('Ein ruhiger Tag')]).toEqual([true, true]);
  expect(mail.match(/^Content-I[dD]: <crop-\d+>\r$/gm)).toHaveLength(1);
  expect(mail).toContain('https://cameras.example/review/chg_');
  world.now += 12 * HOUR;
  expect(await make()).toBe(0);
  world.now = SEVEN + 24 * HOUR + SECOND;
  expect(await make()).toBe(1);
  await deliverAll(id);
  expect(mails).toHaveLength(2);
});

it('is neither doubled nor lost by a restart at its hour, wherever it ends the process', async () => {
  const id = await register();
  world.now = SEVEN + SECOND;
  const dies = () => Promise.reject(new Error('killed'));
  await expect(maker({ changes: { saveMessage: dies } })()).rejects.toThrow('killed');
  await expect(maker({ enqueueDelivery: { ofAlert: dies } })()).rejects.toThrow('killed');
  expect(await deliveriesOf(id)).toEqual([]);
  const { endpoints } = world;
  await expect(maker({ endpoints: { all: endpoints.all, noteBrief: dies } })()).rejects.toThrow('killed');
  await deliverAll(id);
  world.now += 60 * SECOND;
  expect(await maker()()).toBe(1);
  expect(await maker()()).toBe(0);
  await deliverAll(id);
  expect([(await deliveriesOf(id)).length, mails.length]).toEqual([1, 1]);
});

it('comes late if no worker ran at its hour, and not at all after half a day', async () => {
  const id = await register();
  world.now = SEVEN + 13 * HOUR;
  expect(await maker()()).toBe(0);
  world.now = SEVEN + 27 * HOUR;
  expect(await maker()()).toBe(1);
  expect(await deliveriesOf(id)).toHaveLength(1);
});

it('is of the cameras of its endpoint alone, by their ids or their label', async () => {
  const ids = [
    await register({ cameras: ['gate*'] }),
    await register({ brief: { hour: 7, time_zone: 'Europe/Berlin', label: 'north' } }),
  ];
  world.now = SEVEN;
  expect(await maker()()).toBe(2);
  for (const id of ids) await deliverAll(id);
  expect(mails.map((mail) => mail.includes('/review/chg_')).sort()).toEqual([false, true]);
});

it.each([{ enabled: false }, { brief: null, events: ['change.opened' as const] }])(
  'is not made with %j',
  async (given) => {
    await register(given);
    world.now = SEVEN + SECOND;
    expect(await maker()()).toBe(0);
  },
);
