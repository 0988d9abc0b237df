/** Logins of cameras over HTTP: Basic and Digest, against a server that demands them. */
import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createOutboundClient, type OutboundClient } from '../../src/outbound/client.js';
import { authorizationOf, parseChallenges } from '../../src/outbound/http-login.js';
import { startLoginCamera } from '../helpers/login-camera.js';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const LOGIN = { username: 'viewer', password: 'pass:"word" é' };
let client: OutboundClient;
let camera: Awaited<ReturnType<typeof startLoginCamera>>;
let now: number;

afterEach(async () => {
  await client?.close();
  await camera?.close();
});

const setUp = async (change: Partial<Parameters<typeof startLoginCamera>[0]>) => {
  camera = await startLoginCamera({ ...LOGIN, schemes: ['basic'], body: PNG, ...change });
  now = 1_000_000;
  client = createOutboundClient({ outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: 5_000 }, { now: () => now });
  return (login: typeof LOGIN | undefined = LOGIN, path = '/snap.jpg?channel=1&x=a,b') =>
    client.fetchImage(`${camera.url}${path}`, { maxBytes: 1000, field: 'snapshot', login });
};

describe('a camera that asks for a login', () => {
  it.each([
    ['Basic', ['basic'], 'Basic'],
    ['Digest with MD5', ['digest-md5'], 'Digest'],
    ['Digest with MD5-sess', ['digest-md5-sess'], 'Digest'],
    ['Digest with SHA-256', ['digest-sha256'], 'Digest'],
    ['Digest without qop', ['digest-rfc2069'], 'Digest'],
    ['several schemes', ['negotiate', 'basic', 'digest-md5', 'digest-sha256'], 'Digest'],
  ] as const)('by %s gets it, once per nonce', async (_what, schemes, sent) => {
    const fetch = await setUp({ schemes });
    for (const _time of [1, 2, 3]) expect(await fetch()).toEqual(PNG);
    // The first request shows which scheme is asked for; the others know it.
    expect(camera.schemesSent()).toEqual([undefined, sent, sent, sent]);
  });

  it('prefers SHA-256 to MD5', async () => {
    const fetch = await setUp({ schemes: ['digest-md5', 'digest-sha256'] });
    await fetch();
    expect(camera.received.at(-1)?.headers.authorization).toContain('algorithm=SHA-256');
  });

  it('counts the uses of a nonce', async () => {
    const fetch = await setUp({ schemes: ['digest-sha256'] });
    for (const _time of [1, 2, 3]) await fetch();
    const counts = camera.received.map(({ headers }) => /nc=(\w+)/.exec(headers.authorization ?? '')?.[1]);
    expect(counts).toEqual([undefined, '00000001', '00000002', '00000003']);
  });

  it.each([true, false])('gets a new answer if its nonce has expired (stale=%s)', async (saysStale) => {
    const fetch = await setUp({ schemes: ['digest-md5'], nonceUses: 2, saysStale });
    for (const _time of [1, 2, 3, 4, 5]) expect(await fetch()).toEqual(PNG);
    expect(camera.received.length).toBeGreaterThan(6);
  });

  it('takes a user name beyond ASCII', async () => {
    const login = { username: 'Zoë', password: 'x' };
    const fetch = await setUp({ ...login, schemes: ['digest-sha256'] });
    expect(await fetch(login)).toEqual(PNG);
  });

  it('and refuses it gets no second try for five minutes, but another password at once', async () => {
    const fetch = await setUp({ schemes: ['digest-md5'] });
    const wrong = { ...LOGIN, password: 'secret-1' };
    const failure = await fetch(wrong).catch((thrown) => thrown);
    expect(failure).toMatchObject({
      code: 'url-failed',
      message: `${camera.url}/snap.jpg refused the user name or the password (401); it is asked again after five minutes`,
    });
    await expect(fetch(wrong)).rejects.toThrow('refused the user name or the password');
    expect(camera.received).toHaveLength(2);
    expect(await fetch()).toEqual(PNG);
    const asked = camera.received.length;
    now += 5 * 60_000;
    await expect(fetch(wrong)).rejects.toThrow('refused');
    expect(camera.received.length).toBeGreaterThan(asked);
  });

  it('gets nothing without a login, and the error says what it asks for', async () => {
    await setUp({ schemes: ['basic'] });
    const options = { maxBytes: 1000, field: 'snapshot' };
    await expect(client.fetchImage(`${camera.url}/`, options)).rejects.toMatchObject({
      code: 'url-failed',
      message: expect.stringContaining('answered 401: it asks for a user name and a password'),
    });
  });

  it('by a scheme that is not known gets nothing', async () => {
    const fetch = await setUp({ schemes: ['negotiate'] });
    await expect(fetch()).rejects.toThrow('asks for a login by negotiate, expected basic or digest');
    expect(camera.schemesSent()).toEqual([undefined]);
  });
});

describe('Digest', () => {
  // RFC 7616 section 3.9.1
  const request = {
    method: 'GET',
    uri: '/dir/index.html',
    count: 1,
    cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
  };
  const login = { username: 'Mufasa', password: 'Circle of Life' };
  it.each([
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ])('with %s gives the response of RFC 7616', (algorithm, response) => {
    const [challenge] = parseChallenges([
      `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, ` +
        'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"',
    ]);
    if (challenge === undefined) throw new Error('no challenge');
    expect(authorizationOf(challenge, login, request)).toContain(`response="${response}"`);
  });

  const hash = (text: string) => createHash('md5').update(text).digest('hex');
  const ofCamera = (rest: string) => {
    const [challenge] = parseChallenges([`Digest realm="cam", nonce="n", ${rest}`]);
    return challenge === undefined ? '' : authorizationOf(challenge, { username: 'u', password: 'p' }, request);
  };
  it('as MD5-sess hashes the login with nonce and cnonce', () => {
    const secret = hash(`${hash('u:cam:p')}:n:${request.cnonce}`);
    const response = hash(`${secret}:n:00000001:${request.cnonce}:auth:${hash(`GET:${request.uri}`)}`);
    expect(ofCamera('algorithm=MD5-sess, qop="auth"')).toContain(`response="${response}"`);
  });
  it('with an empty qop answers as without one', () => {
    expect(ofCamera('qop=""')).toContain(`response="${hash(`${hash('u:cam:p')}:n:${hash(`GET:${request.uri}`)}`)}"`);
  });
});
