import { describe, expect, it } from '@jest/globals';
import { redisAddress } from '../../src/stores/redis/redis-address.js';

describe('redisAddress', () => {
  it.each([
    ['redis://h:6379/2', 'redis://h:6379/2'],
    ['rediss://u:p@h', 'rediss://u:p@h'],
    ['unix:///run/redis.sock?db=1', '/run/redis.sock?db=1'],
  ])('passes %s on to ioredis', (url, expected) => {
    expect(redisAddress(url)).toBe(expected);
  });

  it('reads the sentinels, the name of the primary, its database and both logins', () => {
    expect(
      redisAddress(
        'redis+sentinel://app:p%40ss:word@s1:5000,[fd00::2]:5001,s3/cameras/3?sentinel_username=w&sentinel_password=x',
      ),
    ).toEqual({
      sentinels: [
        { host: 's1', port: 5000 },
        { host: 'fd00::2', port: 5001 },
        { host: 's3', port: 26_379 },
      ],
      name: 'cameras',
      db: 3,
      username: 'app',
      password: 'p@ss:word',
      sentinelUsername: 'w',
      sentinelPassword: 'x',
      failoverDetector: true,
    });
  });

  it('reads a password without a user name, and TLS', () => {
    expect(redisAddress('rediss+sentinel://:secret@s1/cameras')).toMatchObject({
      ...{ password: 'secret', db: 0, tls: {}, enableTLSForSentinelMode: true },
    });
    expect(redisAddress('rediss+sentinel://:secret@s1/cameras')).not.toHaveProperty('username');
  });

  it.each([
    'redis+sentinel://s1:26379',
    'redis+sentinel://s1:99999/cameras',
    'redis+sentinel://s1:26379,/cameras',
    'redis+sentinel://%zz@s1/cameras',
    'redis+sentinel://s1/cameras/x',
    'sentinel://s1/cameras',
  ])('refuses %s and names what it expects, without the password', (url) => {
    expect(() => redisAddress(url)).toThrow(/^REDIS_URL=.*expected redis:\/\/.*redis\+sentinel:\/\//);
  });

  it('names no password of a refused address', () => {
    expect(() => redisAddress('redis+sentinel://u:hidden@s1:26379?sentinel_password=hidden')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hidden') }),
    );
  });
});
