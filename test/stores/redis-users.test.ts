/** A Redis with TLS and a user of the rights that deploy/README.md names: the service works, and misses no right. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { connectRedis, redisCall } from '../../src/stores/redis/redis.js';
import { type Authority, hasOpenssl, makeAuthority } from '../helpers/certificates.js';
import { eventually } from '../helpers/eventually.js';
import { freePort } from '../helpers/free-port.js';
import { recordingLogger } from '../helpers/recording-logger.js';
import { changedPair } from '../helpers/scenes.js';
import { type Service, startService } from '../helpers/service.js';

jest.setTimeout(240_000);

/** The rule of the manual, with the password of the test. */
const RULE = /^user scenedelta on >\S+ (.*)$/m.exec(readFileSync('deploy/README.md', 'utf8'))?.[1] ?? '';

const folder = mkdtempSync(join(tmpdir(), 'sd-acl-'));
let authority: Authority;
let server: ChildProcess;
let [port, plainPort]: number[] = [];
let admin: Redis;
beforeAll(async () => {
  expect(hasOpenssl).toBe(true);
  authority = makeAuthority();
  const { cert, key } = authority.certify('IP:127.0.0.1');
  [port, plainPort] = [await freePort(), await freePort()];
  const users = join(folder, 'users.acl');
  writeFileSync(
    users,
    [
      'user default off',
      'user admin on >of-admin ~* &* +@all',
      `user scenedelta on >of-scenedelta ${RULE}`,
      `user reader on >of-reader ${RULE} -set -evalsha -eval`,
    ].join('\n'),
  );
  const tls = `--bind 127.0.0.1 --port ${plainPort} --tls-port ${port} --tls-cert-file ${cert} --tls-key-file ${key} --tls-auth-clients no`;
  const rest = `--dir ${folder} --aclfile ${users} --maxmemory-policy noeviction --appendonly no`;
  server = spawn('redis-server', [...`${tls} ${rest}`.split(' '), '--save', ''], { stdio: 'ignore' });
  admin = new Redis(address('admin'), { tls: { ca: readFileSync(authority.ca) }, retryStrategy: () => 50 });
  admin.on('error', () => {});
  await admin.ping();
});
afterAll(() => {
  admin.disconnect();
  server.kill();
  authority.remove();
  rmSync(folder, { recursive: true });
});

const address = (user: string): string => `rediss://${user}:of-${user}@127.0.0.1:${port}`;

/** Commands and keys that Redis has refused. */
const refused = async (): Promise<string[]> => {
  const entries = (await admin.call('ACL', 'LOG')) as string[][];
  return entries.map((entry) => `${entry[3]} ${entry[7]} of ${entry[9]}`);
};

describe('a user with the rights of deploy/README.md', () => {
  let service: Service;
  beforeAll(async () => {
    await admin.call('ACL', 'LOG', 'RESET');
    const env = { REDIS_URL: address('scenedelta'), NODE_EXTRA_CA_CERTS: authority.ca };
    service = await startService({ env });
  });
  afterAll(() => service?.stop());

  it('is refused nothing in a comparison, frames of a camera and an erasure', async () => {
    const { before, after } = await changedPair();
    const form = (files: Record<string, Buffer>) => {
      const body = new FormData();
      for (const [name, bytes] of Object.entries(files)) body.append(name, new Blob([new Uint8Array(bytes)]), 'a.png');
      return body;
    };
    const send = async (path: string, init: RequestInit) => {
      const response = await fetch(`${service.url}${path}`, {
        ...init,
        headers: { ...service.headers, ...init.headers },
      });
      return { status: response.status, body: response.status === 204 ? {} : await response.json() };
    };
    const wait = { prefer: 'wait=60' };
    const compared = await send('/v1/comparisons', { method: 'POST', headers: wait, body: form({ before, after }) });
    expect(compared).toMatchObject({ status: 200, body: { status: 'finished' } });
    const settings = { 'content-type': 'application/json' };
    await send('/v1/cameras/yard', { method: 'PUT', headers: settings, body: '{"before":"reference"}' });
    for (const frame of [before, after, after]) {
      const sent = await send('/v1/cameras/yard/frames', { method: 'POST', headers: wait, body: form({ frame }) });
      expect(sent).toMatchObject({ status: 200, body: { status: 'finished' } });
    }
    expect(await send('/v1/changes', {})).toMatchObject({ status: 200 });
    expect(await send('/v1/cameras/yard', { method: 'DELETE' })).toMatchObject({ status: 204 });
    expect(await send('/readyz', {})).toMatchObject({ body: { ready: true, evicts: false } });
    expect(await refused()).toEqual([]);
  });

  it('has no right to other keys, and none to administer', async () => {
    const user = new Redis(address('scenedelta'), { tls: { ca: readFileSync(authority.ca) } });
    for (const command of [
      ['GET', 'other'],
      ['FLUSHALL'],
      ['CONFIG', 'GET', '*'],
      ['KEYS', '*'],
      ['SHUTDOWN'],
    ] as const) {
      await expect(user.call(...(command as unknown as [string]))).rejects.toThrow(/^NOPERM/);
    }
    user.disconnect();
  });
});

it('names the mend of a refused command in one line, in the error and in the log', async () => {
  const { logger, lines } = recordingLogger();
  const redis = connectRedis(`redis://reader:of-reader@127.0.0.1:${plainPort}`, { role: 'consumer', logger });
  const setting = redisCall('Saving', () => redis.set('sd:x', '1'));
  await expect(setting).rejects.toMatchObject({
    code: 'queue-unavailable',
    message: expect.stringMatching(
      /^Saving: Redis refuses it \(NOPERM .*'set'.*\); deploy\/README.md has the ACL line .*$/,
    ),
  });
  const duplicate = redis.duplicate();
  await expect(duplicate.eval('return 1', 0)).rejects.toThrow(/NOPERM/);
  await eventually(() => expect(lines.filter(({ msg }) => /ACL line/.test(String(msg)))).toHaveLength(1));
  duplicate.disconnect();
  redis.disconnect();
});
