import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createOutboundClient, type OutboundClient } from '../../src/outbound/client.js';
import type { Resolve } from '../../src/outbound/guarded-agent.js';
import { type Received, type Receiver, startReceiver } from '../helpers/receiver.js';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
let receiver: Receiver;
let client: OutboundClient;

afterEach(async () => {
  await client?.close();
  await receiver?.close();
});

/** Starts a server with this behaviour, and a client that may reach it as `host`. */
const setUp = async (
  answer: (request: Received, response: ServerResponse) => void,
  options: { resolve?: Resolve; allow?: string[]; timeoutMs?: number } = {},
) => {
  receiver = await startReceiver(answer);
  client = createOutboundClient(
    { outboundAllow: options.allow ?? ['127.0.0.0/8'], outboundTimeoutMs: options.timeoutMs ?? 5_000 },
    options.resolve === undefined ? {} : { resolve: options.resolve },
  );
  const { port } = new URL(receiver.url);
  const fetch = (host = '127.0.0.1', path = '/frame.png?token=secret', maxBytes = 1000) =>
    client.fetchImage(`http://${host}:${port}${path}`, { maxBytes, field: 'after' });
  return { fetch, port };
};
const image = (_request: Received, response: ServerResponse) =>
  response.setHeader('content-type', 'image/png').end(PNG);
const answering =
  (status: number, headers: Record<string, string> = {}, body = 'words of the upstream') =>
  (_request: Received, response: ServerResponse) =>
    response.writeHead(status, headers).end(body);

describe('fetching an image', () => {
  it('returns its bytes', async () => {
    const { fetch } = await setUp(image);
    expect(await fetch()).toEqual(PNG);
  });

  it.each(['application/octet-stream', 'binary/octet-stream', 'IMAGE/JPEG; q=1'])(
    'accepts the type %s',
    async (type) => {
      const { fetch } = await setUp((_, response) => response.setHeader('content-type', type).end(PNG));
      expect(await fetch()).toEqual(PNG);
    },
  );

  it.each([
    ['a redirect', answering(302, { location: 'http://127.0.0.1/' }), 'url-failed', 'redirects are not followed'],
    ['404', answering(404), 'url-failed', 'answered 404'],
    ['204', answering(204, {}, ''), 'url-failed', 'answered 204'],
    ['206', answering(206, { 'content-type': 'image/png' }), 'url-failed', 'answered 206'],
    ['429', answering(429), 'url-unavailable', 'answered 429'],
    ['503', answering(503), 'url-unavailable', 'answered 503'],
    ['HTML', answering(200, { 'content-type': 'text/html' }), 'url-failed', 'text/html'],
    ['JSON', answering(200, { 'content-type': 'application/json' }), 'url-failed', 'application/json'],
    ['nothing', answering(200, { 'content-type': 'image/png' }, ''), 'url-failed', 'zero bytes'],
    [
      'more than allowed',
      answering(200, { 'content-type': 'image/png' }, 'x'.repeat(1001)),
      'payload-too-large',
      '1000',
    ],
  ])('that answers with %s is %s', async (_what, answer, code, words) => {
    const { fetch } = await setUp(answer);
    const failure = await fetch().catch((thrown) => thrown);
    expect(failure).toMatchObject({ code, field: 'after', message: expect.stringContaining(words) });
    expect(failure.message).not.toContain('words of the upstream');
    expect(failure.message).not.toContain('secret');
    expect(receiver.received).toHaveLength(1);
  });

  it('stops at the limit without a Content-Length', async () => {
    let written = 0;
    const { fetch } = await setUp((_, response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      const timer = setInterval(() => {
        written += 500;
        response.write(Buffer.alloc(500));
      }, 5);
      response.on('close', () => clearInterval(timer));
    });
    await expect(fetch()).rejects.toMatchObject({ code: 'payload-too-large' });
    expect(written).toBeLessThan(50_000);
  });

  it.each([
    ['never answers', () => {}],
    [
      'sends only its headers',
      (_: Received, response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'image/png' }).flushHeaders();
      },
    ],
    [
      'drips its body',
      (_: Received, response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'image/png' });
        const timer = setInterval(() => response.write('x'), 20);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('from a server that %s ends at the timeout', async (_what, answer) => {
    const { fetch } = await setUp(answer, { timeoutMs: 200 });
    await expect(fetch()).rejects.toMatchObject({
      code: 'url-unavailable',
      message: expect.stringContaining('within 200 ms'),
    });
  });

  it('from a server that hangs up is url-unavailable', async () => {
    const { fetch } = await setUp((_, response) => response.destroy());
    await expect(fetch()).rejects.toMatchObject({ code: 'url-unavailable' });
  });

  it('from a closed port is url-unavailable', async () => {
    const { fetch } = await setUp(image);
    await receiver.close();
    await expect(fetch()).rejects.toMatchObject({
      code: 'url-unavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('ends when its caller aborts, with the reason of the caller', async () => {
    const { port } = await setUp(() => {});
    const cancel = new AbortController();
    const fetching = client.fetchImage(`http://127.0.0.1:${port}/`, {
      maxBytes: 1,
      field: 'after',
      signal: cancel.signal,
    });
    await receiver.count(1);
    cancel.abort(new Error('cancelled by the caller'));
    await expect(fetching).rejects.toThrow('cancelled by the caller');
  });
});

describe('the guard', () => {
  const addresses =
    (...list: string[]): Resolve =>
    async () =>
      list.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

  it.each([
    ['the literal', '127.0.0.1'],
    ['the literal in another notation', '2130706433'],
    ['the mapped literal', '[::ffff:127.0.0.1]'],
  ])('refuses %s without connecting', async (_what, host) => {
    const { fetch } = await setUp(image, { allow: [] });
    await expect(fetch(host)).rejects.toMatchObject({ code: 'url-refused', field: 'after' });
    expect(receiver.received).toEqual([]);
  });

  it('gives one answer for a name that does not exist and for every name with a private address', async () => {
    const failed = (code: string) => async () => {
      throw Object.assign(new Error(code), { code });
    };
    const resolvers: Resolve[] = [
      addresses('127.0.0.1'),
      addresses('8.8.8.8', '127.0.0.1'),
      addresses('::1'),
      addresses('169.254.169.254'),
      addresses(),
      failed('ENOTFOUND'),
      failed('EAI_AGAIN'),
      () => new Promise(() => {}),
    ];
    for (const resolve of resolvers) {
      const { fetch } = await setUp(image, { allow: [], resolve, timeoutMs: 300 });
      const failure = await fetch('camera.example').catch((thrown) => thrown);
      expect(failure).toMatchObject({
        code: 'url-unavailable',
        field: 'after',
        message:
          'camera.example has no address that the service connects to: expected a name with a public address, ' +
          'or with one in OUTBOUND_ALLOW',
      });
      const posted = await client.post('http://camera.example/', { body: '{}', headers: {} });
      expect(posted).toEqual({ status: null, error: failure.message, retryAfterMs: null, permanent: false });
      expect(receiver.received).toEqual([]);
      await client.close();
      await receiver.close();
    }
  });

  it('refuses a name with a private address no sooner than a slow DNS server would deny a name', async () => {
    const { fetch } = await setUp(image, { allow: [], resolve: addresses('10.0.0.1') });
    let denied = false;
    setTimeout(() => {
      denied = true;
    }, 200);
    await expect(fetch('camera.example')).rejects.toMatchObject({ code: 'url-unavailable' });
    expect(denied).toBe(true);
  });

  it('connects to the checked address, although the name resolves to another one later', async () => {
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    let lookups = 0;
    const rebinding: Resolve = () => addresses(...(answers[lookups++] ?? []))('');
    const closing = (_: Received, response: ServerResponse) => image(_, response.setHeader('connection', 'close'));
    const { fetch } = await setUp(closing, { allow: ['127.0.0.1/32'], resolve: rebinding });
    expect(await fetch('rebinding.example')).toEqual(PNG);
    expect(lookups).toBe(1);
    expect(receiver.received[0]?.headers.host).toMatch(/^rebinding\.example:/);
    // A new connection resolves the name again and is refused.
    await expect(fetch('rebinding.example')).rejects.toMatchObject({ code: 'url-unavailable' });
    expect(lookups).toBe(2);
    expect(receiver.received).toHaveLength(1);
  });

  it('checks names that the system resolver knows too', async () => {
    const { fetch } = await setUp(image, { allow: [] });
    await expect(fetch('localhost')).rejects.toMatchObject({ code: 'url-unavailable' });
    expect(receiver.received).toEqual([]);
  });
});

describe('posting', () => {
  const post = (url: string) => client.post(url, { body: '{"a":1}', headers: { 'webhook-id': 'dlv_1' } });

  it('sends the body and the headers, and 2xx is success', async () => {
    await setUp(answering(204, {}, ''));
    expect(await post(`${receiver.url}/hook?token=1`)).toEqual({
      status: 204,
      error: null,
      retryAfterMs: null,
      permanent: false,
    });
    expect(receiver.received[0]).toMatchObject({ method: 'POST', path: '/hook?token=1', body: '{"a":1}' });
    expect(receiver.received[0]?.headers).toMatchObject({ 'webhook-id': 'dlv_1' });
  });

  it.each([301, 307, 400, 410, 500])('%d is a failure, without the text of the receiver', async (status) => {
    await setUp(answering(status, { location: 'http://127.0.0.1/' }));
    const outcome = await post(receiver.url);
    expect(outcome).toMatchObject({
      status,
      error: `the receiver answered ${status}, expected 2xx`,
      permanent: false,
    });
    expect(receiver.received).toHaveLength(1);
  });

  it('returns the delay of Retry-After', async () => {
    await setUp(answering(503, { 'retry-after': '120' }));
    expect(await post(receiver.url)).toMatchObject({ status: 503, retryAfterMs: 120_000 });
  });

  it('to a private address is a permanent failure', async () => {
    await setUp(image, { allow: [] });
    expect(await post(receiver.url)).toMatchObject({
      status: null,
      permanent: true,
      error: expect.stringContaining('loopback'),
    });
  });

  it('to a receiver that does not answer is a transient failure', async () => {
    await setUp(() => {}, { timeoutMs: 200 });
    expect(await post(receiver.url)).toMatchObject({
      status: null,
      permanent: false,
      error: expect.stringContaining('200 ms'),
    });
  });
});

describe('a refusal that is quoted', () => {
  it.each([
    ['gzip', { 'content-encoding': 'gzip' }, gzipSync('{"error":"field summary is required"}'), 'summary is required'],
    ['br', { 'content-encoding': 'br' }, brotliCompressSync('table is full'), 'table is full'],
    [
      'a page',
      { 'content-type': 'text/html' },
      Buffer.from('<style>p {}</style><p>the table</p> <p>is full</p>'),
      'the table is full',
    ],
    ['more than it may say', { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(1 << 20)), undefined],
  ])('is read as text: %s', async (_name, headers, body, said) => {
    await setUp((_request, response) => response.writeHead(400, headers as Record<string, string>).end(body));
    const outcome = await client.post(receiver.url, { body: '{}', headers: {}, quoting: true });
    if (said === undefined) expect(outcome).toMatchObject({ status: 400, said });
    else expect(outcome).toMatchObject({ status: 400, said: expect.stringContaining(said) });
  });
});
