/** Notifications of browsers: a push service on loopback, which reads them as a browser does. */
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { vapidKeys } from '../../src/secrets/vapid-keys.js';
import { createApiKeyStore } from '../../src/stores/redis/api-keys.js';
import { useEndpointDeliveries } from '../helpers/endpoint-deliveries.js';
import { KEY, storedEndpoint } from '../helpers/endpoints.js';

const world = useEndpointDeliveries();
const browser = createECDH('prime256v1');
const p256dh = browser.generateKeys();
const auth = randomBytes(16);
const authorization = `${p256dh.toString('base64url')}:${auth.toString('base64url')}`;

/** As a browser reads it: RFC 8188 with the keys of RFC 8291. */
function decrypted(body: Buffer): Record<string, unknown> {
  const [salt, length] = [body.subarray(0, 16), body[20] as number];
  const sender = body.subarray(21, 21 + length);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), p256dh, sender]);
  const key = Buffer.from(hkdfSync('sha256', browser.computeSecret(sender), auth, info, 32));
  const part = (name: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', key, salt, `Content-Encoding: ${name}\0`, bytes));
  const sealed = body.subarray(21 + length);
  const cipher = createDecipheriv('aes-128-gcm', part('aes128gcm', 16), part('nonce', 12));
  cipher.setAuthTag(sealed.subarray(-16));
  const text = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()]);
  return JSON.parse(text.subarray(0, text.lastIndexOf(2)).toString());
}

/** Whether the token of the header Authorization is signed with the key of the service, for this push service. */
function isSigned({ authorization: header = '' }: Record<string, string>): boolean {
  const [, token = '', key = ''] = /^vapid t=([^,]+), ?k=(\S+)$/.exec(header) ?? [];
  const [head = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  const publicKey = createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' } });
  const { aud } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  const signed = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  return (
    key === vapidKeys(KEY).publicKey &&
    aud === world.receiver.url &&
    verify('sha256', Buffer.from(`${head}.${claims}`), signed, Buffer.from(signature, 'base64url'))
  );
}

const register = () => world.register({ format: 'web-push' }, '/push/1', { authorization });

describe('A notification', () => {
  it('is encrypted for the browser, signed by the service, and has a crop and what acknowledges it', async () => {
    await register();
    const { ids, stored } = await world.alert();
    expect(await world.run(ids[0] ?? '')).toEqual({ kind: 'delivered' });
    const [{ headers, bytes } = { headers: {}, bytes: undefined }] = world.receiver.received;
    expect(headers).toMatchObject({ 'content-encoding': 'aes128gcm', ttl: '86400', urgency: 'high' });
    expect(isSigned(headers)).toBe(true);
    const { change } = stored.message.data as { change: { id: string } };
    expect(decrypted(bytes ?? Buffer.alloc(0))).toMatchObject({
      body: 'A car has appeared. There were 2 more since the last alert.',
      path: `/review/${change.id}`,
      judged: `changes/${change.id}`,
      acknowledge: 'Acknowledge',
    });
  });

  it('ends with the subscription: the endpoint is erased, and an event says why', async () => {
    const endpoint = await register();
    world.status(404);
    const { ids } = await world.alert();
    expect(await world.run(ids[0] ?? '')).toEqual({ kind: 'failed' });
    expect(await world.endpoints.get(endpoint.id)).toBeUndefined();
    const said = (await world.events()).filter(({ type }) => type === 'endpoint.disabled');
    expect(said).toEqual([expect.objectContaining({ subject: { kind: 'endpoint', id: endpoint.id } })]);
  });
});

it('A subscription ends with the API key that made it', async () => {
  const { key } = await createApiKeyStore(world.bench.redis).create({ name: 'guard', scopes: ['judge'] });
  const subscriber = { key: key.id, owner: key.owner };
  const endpoint = storedEndpoint(`${world.receiver.url}/push/1`, { format: 'web-push' }, { authorization });
  await world.endpoints.create({ ...endpoint, subscriber });
  const kept = await register();
  expect((await world.alert()).ids).toHaveLength(2);
  await createApiKeyStore(world.bench.redis).revoke(key.id);
  expect((await world.alert({}, { name: 'later' })).ids).toHaveLength(1);
  expect((await world.endpoints.all()).map(({ id }) => id)).toEqual([kept.id]);
});
