/** Which addresses are reached through a proxy, by HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
import { loadConfig } from '../../src/process/config.js';
import { createProxies } from '../../src/process/proxies.js';

const proxyOf = (address: string, env: Record<string, string> = {}) =>
  createProxies(loadConfig({ HTTP_PROXY: 'http://plain:3128', HTTPS_PROXY: 'tunnel:3129', ...env }))(new URL(address))
    ?.host;

it.each([
  ['http://a.example/', 'plain:3128'],
  ['https://a.example/', 'tunnel:3129'],
  ['smtps://a.example', 'tunnel:3129'],
  ['rtsp://a.example/', 'tunnel:3129'],
  ['http://localhost:81/', undefined],
  ['http://127.1.2.3/', undefined],
  ['https://[::1]/', undefined],
])('%s: %s', (address, proxy) => expect(proxyOf(address)).toBe(proxy));

it.each([
  ['example.com', ['http://example.com/', 'http://cam.example.com/'], ['http://anexample.com/']],
  ['.example.com', ['http://cam.example.com/'], ['http://example.com/']],
  ['*.example.com', ['http://cam.example.com/'], ['http://example.com/']],
  ['example.com:8080', ['http://example.com:8080/'], ['http://example.com/']],
  ['10.0.0.0/8', ['http://10.1.2.3/'], ['http://11.1.2.3/', 'http://ten.example/']],
  ['192.0.2.7', ['http://192.0.2.7/'], ['http://192.0.2.8/']],
  ['fd00::/8', ['http://[fd00::7]/'], ['http://[2001:db8::7]/', 'http://10.0.0.1/']],
  ['*', ['http://example.com/', 'https://192.0.2.7/'], []],
])('NO_PROXY=%s leaves out %j and not %j', (entry, direct, proxied) => {
  for (const address of direct) expect(proxyOf(address, { NO_PROXY: entry })).toBeUndefined();
  for (const address of proxied) expect(proxyOf(address, { NO_PROXY: entry })).toBe('plain:3128');
});

it('are read in small letters too', () => {
  const proxies = createProxies(loadConfig({ http_proxy: 'http://plain:3128', no_proxy: 'a.example,b.example' }));
  const reached = ['http://a.example/', 'http://c.example/', 'https://c.example/'].map((url) => proxies(new URL(url)));
  expect(reached.map((proxy) => proxy?.host)).toEqual([undefined, 'plain:3128', undefined]);
});

it('that are no HTTP proxy end the start with what is expected', () => {
  expect(() => loadConfig({ HTTPS_PROXY: 'socks5://proxy:1080' })).toThrow(
    'HTTPS_PROXY="socks5://proxy:1080": expected the http(s) address of a proxy, http://host:port',
  );
});
