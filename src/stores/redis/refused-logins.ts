/** Logins that hosts have refused, for all workers: after a restart, a wrong password is not sent again either. */
import { createHmac } from 'node:crypto';
import type { Redis } from 'ioredis';
import { KEYS } from './keys.js';
import { redisCall } from './redis.js';

/** @param key makes the stored names useless for guessing passwords */
export function createRefusedLogins(redis: Redis, key: Buffer) {
  const nameOf = (login: string) => KEYS.refusedLogin(createHmac('sha256', key).update(login).digest('hex'));
  return {
    has: (login: string): Promise<boolean> =>
      redisCall('reading refused logins', async () => (await redis.exists(nameOf(login))) === 1),
    add: (login: string, forMs: number): Promise<void> =>
      redisCall('noting a refused login', async () => void (await redis.set(nameOf(login), '1', 'PX', forMs))),
  };
}
