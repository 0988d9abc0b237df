/** Deliveries to receivers that refuse, and within the rate of their format. */
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { SMTPServer } from 'smtp-server';
import { frameKey } from '../../src/base/blobs.js';
import sharp from '../../src/frames/sharp.js';
import { acceptedComparison, storedRef } from '../helpers/comparisons.js';
import { useEndpointDeliveries } from '../helpers/endpoint-deliveries.js';
import { storedEndpoint } from '../helpers/endpoints.js';

const world = useEndpointDeliveries();
const { alert, bench, one, register, run } = world;

describe('A receiver that refuses', () => {
  const refusing = (body: string | Buffer, headers: Record<string, string> = {}, code = 400) => {
    world.answer = (_request, response) => response.writeHead(code, headers).end(body);
  };
  const errorOf = async (delivery: string) => (await bench.deliveries.get(delivery))?.attempts[0]?.error;

  it('is quoted in the log of the delivery and in the state of the endpoint', async () => {
    const { id } = await register({ format: 'slack' });
    refusing('{"embeds": ["0\u0007\n"]}');
    const delivery = await one();
    await run(delivery);
    const error = 'the receiver answered 400, expected 2xx; it said: {"embeds": ["0 "]}';
    expect(await errorOf(delivery)).toBe(error);
    expect((await world.endpoints.get(id))?.lastError).toBe(error);
  });

  it.each([
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00]), {}],
    ['nothing', '', {}],
    ['more than 16 KiB', 'x'.repeat(16_385), {}],
  ] as const)('with %s is not quoted', async (_what, body, headers) => {
    await register();
    refusing(body, headers);
    const delivery = await one();
    await run(delivery);
    expect(await errorOf(delivery)).toBe('the receiver answered 400, expected 2xx');
  });

  it('with a page is quoted as the text of the page', async () => {
    await register();
    refusing('<html>x</html>', { 'content-type': 'text/html' });
    const delivery = await one();
    await run(delivery);
    expect(await errorOf(delivery)).toBe('the receiver answered 400, expected 2xx; it said: x');
  });

  it('is quoted in 300 characters, without the secrets that it repeats', async () => {
    await register({ format: 'slack' }, '/services/T0/secret', { authorization: 'Bearer tk_hidden' });
    refusing(`no POST /services/T0/secret with Bearer tk_hidden (tk_hidden): ${'車'.repeat(400)}`);
    const delivery = await one();
    await run(delivery);
    const error = await errorOf(delivery);
    expect(error).toContain('it said: no POST /... with /... (/...): 車');
    expect(error?.split('it said: ')[1]).toHaveLength(300);
  });

  it.each([
    ['in a header', '', { 'retry-after': '60' }],
    ['in its answer', '{"parameters":{"retry_after": 60}}', {}],
  ] as const)('for its rate gets the next attempt when it asks for it %s', async (_where, body, headers) => {
    await register();
    refusing(body, headers, 429);
    expect(await run(await one())).toEqual({ kind: 'later', at: world.now + 60_000 });
  });

  it('of a callback is not quoted, because its caller could read internal networks by it', async () => {
    refusing('internal');
    const { ids } = await alert({ url: `${world.receiver.url}/callback` });
    await run(ids[0] ?? '');
    expect(await errorOf(ids[0] ?? '')).toBe('the receiver answered 400, expected 2xx');
  });
});

it('A format with a rate sends its burst at once, and the next one later, without an attempt', async () => {
  await register({ format: 'slack' });
  for (let i = 0; i < 5; i++) expect(await run(await one({}, { name: `thing ${i}` }))).toEqual({ kind: 'delivered' });
  const next = await one({}, { name: 'next' });
  expect(await run(next)).toMatchObject({ kind: 'later' });
  expect(world.receiver.received).toHaveLength(5);
  expect((await bench.deliveries.get(next))?.attempts).toEqual([]);
});

describe('A format with a picture inside', () => {
  const register = () => world.register({ format: 'telegram' }, '/bot1:a?chat_id=2');
  const formOf = async () => {
    const [sent] = world.receiver.received;
    return Object.fromEntries(await new Response(sent?.bytes, { headers: sent?.headers ?? {} }).formData());
  };

  it('gets the frame of the change as a JPEG', async () => {
    await register();
    const delivery = await one();
    const best = `cmp_${'0'.repeat(25)}1`;
    const background = { r: 200, g: 100, b: 50 };
    const frame = await sharp({ create: { width: 64, height: 48, channels: 3, background } })
      .png()
      .toBuffer();
    await bench.blobs.put(frameKey('c'.repeat(64)), frame);
    await bench.results.create(acceptedComparison({ id: best, camera: 'gate', after: storedRef('c') }));
    await run(delivery);
    expect(world.receiver.received[0]?.path).toBe('/bot1:a/sendPhoto');
    const form = await formOf();
    expect(form).toMatchObject({ chat_id: '2', caption: expect.stringContaining('car has appeared') });
    const photo = Buffer.from(await (form.photo as File).arrayBuffer());
    expect(await sharp(photo).metadata()).toMatchObject({ format: 'jpeg', width: 64, height: 48 });
  });

  it('gets the words alone once the frame has expired', async () => {
    await register();
    await run(await one());
    expect(world.receiver.received).toMatchObject([{ path: '/bot1:a/sendMessage' }]);
  });

  it('goes by mail to a mail server', async () => {
    const mails: string[] = [];
    const server = new SMTPServer({
      ...{ authOptional: true, disabledCommands: ['STARTTLS'] },
      async onData(stream, { envelope }, done) {
        for await (const _chunk of stream);
        mails.push(...envelope.rcptTo.map(({ address }) => address));
        done(null);
      },
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.server.address() as AddressInfo;
    const url = `smtp://127.0.0.1:${port}?from=a@b.example&to=c@d.example`;
    await world.endpoints.create(storedEndpoint(url, { format: 'email' }));
    const delivery = await one();
    expect(await run(delivery)).toEqual({ kind: 'delivered' });
    expect(mails).toEqual(['c@d.example']);
    expect((await bench.deliveries.get(delivery))?.attempts).toMatchObject([{ status: 250, error: null }]);
    await new Promise<void>((done) => server.close(() => done()));
  });
});

it('A template makes the body; one that fails for a message ends the delivery with the line', async () => {
  await register({ format: 'template', template: '{"said": {{ text }}}' });
  expect(await run(await one())).toEqual({ kind: 'delivered' });
  expect(world.receiver.received[0]?.body).toBe(
    '{"said": "A car has appeared. There were 2 more since the last alert."}',
  );
  expect(world.receiver.received[0]?.headers['content-type']).toBe('application/json');
  await register({ format: 'template', template: '{{ text | nope }}' });
  const { ids } = await alert({}, { name: 'other' });
  for (const id of ids) await run(id);
  const attempts = await Promise.all(ids.map(async (id) => (await bench.deliveries.get(id))?.attempts[0]?.error));
  const error = attempts.find((one) => one !== null);
  expect(error).toMatch(/^the template has no body for this message: .*line:1/);
});
