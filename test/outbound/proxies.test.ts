/** Requests through a proxy: by the whole address, by a tunnel, and behind the same checks of addresses. */
import { createOutboundClient, type OutboundClient } from '../../src/outbound/client.js';
import { createProxies } from '../../src/process/proxies.js';
import { startProxy, type TestProxy } from '../helpers/proxy.js';
import { type Receiver, startReceiver } from '../helpers/receiver.js';
import { jpeg } from '../helpers/requests.js';

let proxy: TestProxy;
let receiver: Receiver;
let client: OutboundClient;
afterEach(async () => {
  await client.close();
  await proxy.close();
  await receiver.close();
});

const NAMES: Record<string, string> = {
  'inner.example': '10.0.0.7',
  'outer.example': '203.0.113.9',
  'direct.example': '127.0.0.1',
};
const start = async (options: { noProxy?: string[]; refuses?: number } = {}) => {
  const picture = await jpeg();
  receiver = await startReceiver((_request, response) => void response.end(picture));
  proxy = await startProxy(() => Number(new URL(receiver.url).port), options.refuses);
  const login = proxy.url.replace('://', '://user:p%40ss@');
  client = createOutboundClient(
    { outboundAllow: ['203.0.113.0/24', '127.0.0.0/8'], outboundTimeoutMs: 3_000 },
    {
      proxyOf: createProxies({ httpProxy: login, httpsProxy: proxy.url, noProxy: options.noProxy ?? [] }),
      resolve: async (name) => {
        const address = NAMES[name];
        if (address === undefined) throw new Error('no such name');
        return [{ address, family: 4 }];
      },
    },
  );
};
const posted = (url: string) => client.post(url, { body: '{}', headers: {} });
const fetched = (url: string) => client.fetchImage(url, { maxBytes: 100_000, field: 'frame' });
const LOGIN = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;

it('a webhook and a frame over http have the whole address, the host of the receiver and the login', async () => {
  await start();
  expect((await posted('http://203.0.113.7/hook?a=1')).error).toBeNull();
  await fetched('http://outer.example/a.jpg');
  expect(proxy.asked).toEqual([`POST http://203.0.113.7/hook?a=1 ${LOGIN}`, `GET http://outer.example/a.jpg ${LOGIN}`]);
  expect(receiver.received.map(({ headers }) => headers.host)).toEqual(['203.0.113.7', 'outer.example']);
});

it('https, mail and RTSP go through tunnels, whose refusal is named', async () => {
  await start({ refuses: 403 });
  expect((await posted('https://203.0.113.7/hook')).error).toContain('PROXY_ANSWERED_403');
  await expect(fetched('https://outer.example:8443/a.jpg')).rejects.toMatchObject({ code: 'url-unavailable' });
  const mail = { from: 'a@b.example', to: ['c@d.example'], subject: 's', text: 't', html: 'h' };
  const sent = await client.mail('smtp://203.0.113.7', mail as never, { password: null });
  expect(sent.error).toContain('PROXY_ANSWERED_403');
  expect([...new Set(proxy.asked)]).toEqual([
    'CONNECT 203.0.113.7:443',
    'CONNECT outer.example:8443',
    'CONNECT 203.0.113.7:587',
  ]);
});

it('a tunnel carries TLS to the receiver', async () => {
  await start();
  // The receiver speaks plain HTTP, so that the handshake fails behind the tunnel.
  expect((await posted('https://203.0.113.7/hook')).error).toMatch(/ERR_SSL|EPROTO/);
  expect(proxy.asked).toEqual(['CONNECT 203.0.113.7:443']);
});

it.each([
  ['an address of a private network', 'http://10.0.0.7/hook', 'private address'],
  ['a name that has one here', 'http://inner.example/hook', 'no address that the service connects to'],
  ['the address of metadata', 'https://169.254.169.254/', 'link-local'],
])('%s is refused without asking the proxy', async (_what, url, error) => {
  await start();
  expect((await posted(url)).error).toContain(error);
  await expect(fetched(url)).rejects.toThrow(error);
  expect(proxy.asked).toEqual([]);
});

it('a name that this machine does not know is left to the proxy, at the usual ports', async () => {
  await start();
  expect((await posted('http://only-outside.example/hook')).error).toBeNull();
  expect((await posted('http://only-outside.example:25/hook')).error).not.toBeNull();
  expect(proxy.asked).toHaveLength(1);
});

it('hosts of NO_PROXY are reached directly', async () => {
  await start({ noProxy: ['direct.example'] });
  expect((await posted(receiver.url.replace('127.0.0.1', 'direct.example'))).error).toBeNull();
  expect(proxy.asked).toEqual([]);
});
