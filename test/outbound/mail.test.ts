/** Mail against a real mail server: what arrives, what is refused, and which addresses are never reached. */

import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { resolve as pathOf } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { createOutboundClient } from '../../src/outbound/client.js';
import { hasOpenssl, makeAuthority } from '../helpers/certificates.js';

const MAIL = {
  from: 'cameras@site.example',
  to: ['guard@site.example', 'desk@site.example'],
  subject: 'Tor 3: 変化 👨‍👩‍👧‍👦',
  text: 'a car has appeared',
  html: '<p>a car has appeared</p><img src="cid:picture">',
  picture: Buffer.from('JPEG'),
  messageId: '<alr_1@cameras.example>',
  references: '<chg_1@cameras.example>',
};
const SETTINGS = { outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: 2_000 };
const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

/** @returns its port, the mails that came, and the logins that it was offered */
async function startServer(options: SMTPServerOptions = {}) {
  const mails: { to: string[]; text: string }[] = [];
  const logins: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    size: 100_000,
    onAuth({ username, password }, _session, done) {
      logins.push(`${username}:${password}`);
      done(null, { user: username ?? '' });
    },
    async onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      mails.push({ to: envelope.rcptTo.map(({ address }) => address), text });
      done(stream.sizeExceeded ? Object.assign(new Error('message too large'), { responseCode: 552 }) : null);
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  ended.push(() => new Promise<void>((done) => server.close(() => done())));
  return { port: (server.server.address() as AddressInfo).port, mails, logins };
}

const send = async (
  url: string,
  mail: Partial<typeof MAIL> = {},
  password: string | null = null,
  settings = SETTINGS,
  certificate: string | null = null,
) => {
  const client = createOutboundClient(settings, {
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  try {
    return await client.mail(url, { ...MAIL, ...mail }, { password, certificate });
  } finally {
    await client.close();
  }
};

describe('A mail', () => {
  it('arrives with its texts, its picture and its thread', async () => {
    const { port, mails } = await startServer();
    expect(await send(`smtp://127.0.0.1:${port}?to=x`)).toMatchObject({ status: 250, error: null });
    expect(mails).toHaveLength(1);
    const [{ to, text } = { to: [], text: '' }] = mails;
    expect(to).toEqual(MAIL.to);
    for (const line of [
      'From: cameras@site.example',
      'Message-ID: <alr_1@cameras.example>',
      'References: <chg_1@cameras.example>',
      'Auto-Submitted: auto-generated',
      'Content-ID: <picture>',
      Buffer.from('JPEG').toString('base64'),
    ]) {
      expect(text).toContain(line);
    }
    expect(Math.max(...text.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
  });

  it('has no header out of a camera name', async () => {
    const { port, mails } = await startServer();
    await send(`smtp://127.0.0.1:${port}`, { subject: 'Gate\r\nBcc: other@evil.example' });
    expect(mails[0]?.text).not.toMatch(/^Bcc:/m);
    expect(mails[0]?.to).toEqual(MAIL.to);
  });

  it('that is too large, or to an unknown user, has the refusal of the server', async () => {
    const { port } = await startServer({
      onRcptTo({ address }, _session, done) {
        done(address.startsWith('no') ? Object.assign(new Error('no such user'), { responseCode: 550 }) : null);
      },
    });
    const url = `smtp://127.0.0.1:${port}`;
    expect(await send(url, { picture: Buffer.alloc(200_000) })).toMatchObject({ status: 552, permanent: false });
    expect(await send(url, { to: ['nobody@site.example'] })).toMatchObject({
      ...{ status: 550, error: 'the mail server answered 550 to RCPT TO' },
      said: expect.stringContaining('no such user'),
    });
  });

  it('with a password is not sent, nor is the password, to a server without TLS', async () => {
    const { port, mails, logins } = await startServer({ allowInsecureAuth: true });
    const outcome = await send(`smtp://user@127.0.0.1:${port}`, {}, 'secret');
    expect(outcome.error).toMatch(/to STARTTLS$/);
    expect([mails, logins]).toEqual([[], []]);
  });

  it('to a server that never answers ends at the deadline', async () => {
    const { port } = await startServer({ onConnect: () => {} });
    const outcome = await send(`smtp://127.0.0.1:${port}`, {}, null, { ...SETTINGS, outboundTimeoutMs: 200 });
    expect(outcome.error).toBe('the mail server did not finish within 200 ms (OUTBOUND_TIMEOUT_MS)');
  });

  (hasOpenssl ? it.each : it.skip.each)([
    ['smtp', false],
    ['smtps', true],
  ] as const)('logs in over %s once the certificate is trusted, and not before', async (scheme, secure) => {
    const authority = makeAuthority();
    ended.push(async () => authority.remove());
    const { cert, key } = authority.certify('IP:127.0.0.1');
    const tls = { cert: readFileSync(cert), key: readFileSync(key), disabledCommands: [] };
    const { port, mails, logins } = await startServer({ ...tls, secure });
    const url = `${scheme}://user%40site@127.0.0.1:${port}`;
    expect((await send(url, {}, 'secret')).error).toContain('certificate');
    expect(logins).toEqual([]);
    const named = secure ? new X509Certificate(readFileSync(cert)).fingerprint256 : readFileSync(authority.ca, 'utf8');
    expect((await send(url, {}, 'secret', SETTINGS, named)).status).toBe(250);
    const code = `
      import { createOutboundClient } from ${JSON.stringify(pathOf('dist/outbound/client.js'))};
      const client = createOutboundClient(${JSON.stringify(SETTINGS)});
      await client.mail(${JSON.stringify(url)}, ${JSON.stringify({ ...MAIL, picture: undefined })}, { password: 'secret' });
      await client.close();
    `;
    const env = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: authority.ca };
    const process_ = spawn(process.execPath, ['--input-type=module', '-e', code], { env, stdio: 'ignore' });
    await new Promise((done) => process_.once('close', done));
    expect([mails.length, logins]).toEqual([2, Array(2).fill('user@site:secret')]);
  });
});

describe('No mail goes to', () => {
  it.each([
    ['a loopback address', 'smtp://127.0.0.1:25'],
    ['another notation of it', 'smtp://0x7f.1:587'],
    ['a number that is one', 'smtps://2130706433'],
    ['a private address', 'smtp://10.0.0.8'],
    ['the address of metadata', 'smtp://169.254.169.254:25'],
    ['IPv6 that embeds one', 'smtp://[::ffff:127.0.0.1]:25'],
    ['a reserved port that is none of mail', 'smtp://mail.example:22'],
    ['an address of another scheme', 'http://mail.example:25'],
    ['a password in the address', 'smtp://user:secret@mail.example'],
  ])('%s', async (_what, url) => {
    const outcome = await send(url, {}, null, { ...SETTINGS, outboundAllow: [] });
    expect(outcome).toMatchObject({ status: null, permanent: true });
    expect(outcome.error).not.toContain('secret');
  });

  it('a name with a private address', async () => {
    const { port, mails } = await startServer();
    const outcome = await send(`smtp://mail.example:${port}`, {}, null, { ...SETTINGS, outboundAllow: [] });
    expect(outcome.error).toContain('mail.example has no address that the service connects to');
    expect(mails).toEqual([]);
  });
});
