/** Limits of one client without a key. Other clients do not wait for it. */
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '../helpers/eventually.js';
import { fakeApp } from '../helpers/fake-app.js';

const GET = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: here\r\n${headers}\r\n`;
const CLOSE = 'Connection: close\r\n';
const statusesOf = (answers: string) => [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

let open: Socket[] = [];
const listening = async (options: Parameters<typeof fakeApp>[0] = {}, deps: Parameters<typeof fakeApp>[1] = {}) => {
  const fake = await fakeApp({ auth: 'on', ...options }, deps);
  await fake.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = fake.app.server.address() as AddressInfo;
  const send = (requests: string) => {
    const socket = connect(port, '127.0.0.1', () => requests !== '' && socket.write(requests));
    socket.on('error', () => {});
    open.push(socket);
    return socket;
  };
  return { ...fake, send, close: () => fake.app.close() };
};
afterEach(() => {
  for (const socket of open) socket.destroy();
  open = [];
});

describe('Requests of one connection', () => {
  it('are served one after the other, with turns for other connections', async () => {
    let served = 0;
    const list = async () => {
      served += 1;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return [];
    };
    const { send, close } = await listening({}, { workers: { list } });
    const flooding = send(GET('/readyz').repeat(20) + GET('/readyz', CLOSE));
    await eventually(() => expect(served).toBeGreaterThan(0));
    expect(statusesOf(await text(send(GET('/livez', CLOSE))))).toEqual([200]);
    expect(served).toBeLessThan(10);
    expect(statusesOf(await text(flooding))).toEqual(Array(21).fill(503));
    expect(served).toBe(21);
    await close();
  });

  it('end with a refusal once more than 32 of them wait', async () => {
    const { send, close } = await listening();
    const statuses = statusesOf(await text(send(GET('/livez').repeat(300))));
    expect(statuses).toEqual([...Array(33).fill(200), 429]);
    await close();
  });
});

describe('Requests of one address without a valid key', () => {
  it('have a quota, which probes, scrapes and requests with a key do not use', async () => {
    const { inject, apiKeys, close } = await listening({ rateLimit: 2 });
    const { secret } = await apiKeys.create({ name: 'any', scopes: ['compare'] });
    const status = async (url: string, headers = {}) => (await inject({ url, headers })).statusCode;
    expect(await status('/', {})).toBe(200);
    expect(await status('/v1/models', { 'x-api-key': 'sd_wrong' })).toBe(401);
    expect([await status('/'), await status('/v1/models')]).toEqual([429, 429]);
    expect(await status('/v1/models', { 'x-api-key': secret })).toBe(200);
    for (const probe of ['/livez', '/metrics', '/internal/scale']) expect(await status(probe)).toBe(200);
    await close();
  });

  it('count by the forwarded address behind a trusted proxy', async () => {
    const { app, close } = await listening({ rateLimit: 1, trustedProxies: ['loopback'] });
    const from = async (address: string) =>
      (await app.inject({ url: '/', headers: { 'x-forwarded-for': address } })).statusCode;
    expect([await from('192.0.2.1'), await from('192.0.2.2')]).toEqual([200, 200]);
    expect([await from('2001:db8::1'), await from('2001:db8::2')]).toEqual([200, 429]);
    await close();
  });

  it('are refused above 100 connections, where probes and keys are still answered', async () => {
    const { send, apiKeys, close } = await listening();
    const { secret } = await apiKeys.create({ name: 'any', scopes: ['compare'] });
    const idle = Array.from({ length: 100 }, () => send(''));
    await Promise.all(idle.map((socket) => new Promise((done) => socket.once('connect', done))));
    const ask = async (request: string) => statusesOf(await text(send(request)));
    expect(await ask(GET('/livez', CLOSE))).toEqual([200]);
    expect(await ask(GET('/', CLOSE))).toEqual([429]);
    expect(await ask(GET('/v1/models', `X-API-Key: ${secret}\r\n${CLOSE}`))).toEqual([200]);
    for (const socket of idle) socket.destroy();
    await eventually(async () => expect(await ask(GET('/', CLOSE))).toEqual([200]));
    await close();
  });
});

describe('Answers without a key', () => {
  it.each(['/docs/json', '/docs/yaml'])('%s is written once, with an ETag', async (url) => {
    const { app, close } = await listening();
    const first = await app.inject({ url });
    const again = await app.inject({ url, headers: { 'if-none-match': String(first.headers.etag) } });
    expect([first.statusCode, again.statusCode, again.body]).toEqual([200, 304, '']);
    expect((await app.inject({ url })).rawPayload.equals(first.rawPayload)).toBe(true);
    await close();
  });

  it.each(['/readyz', '/metrics', '/internal/scale'])(
    '%s asks Redis once for requests that come together',
    async (url) => {
      const { inject, queue, close } = await listening();
      let asked = 0;
      const count =
        <T>(call: () => Promise<T>) =>
        async () => {
          asked += 1;
          await new Promise((resolve) => setTimeout(resolve, 20));
          return call();
        };
      queue.ping = count(queue.ping.bind(queue));
      queue.counts = count(queue.counts.bind(queue));
      await Promise.all(Array.from({ length: 20 }, () => inject({ url })));
      expect(asked).toBe(1);
      await close();
    },
  );
});
