/** Processes whose hosts have other clocks than Redis. */
import { setTimeout as pause } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { clockOffsetMs, followClock, systemClock, systemTime } from '../../src/base/clock.js';
import { followRedisClock } from '../../src/stores/redis/clock.js';
import { recordingLogger } from '../helpers/recording-logger.js';

const HOUR_S = 3_600;
const ofHost = Date.now;
afterEach(() => {
  followClock(ofHost());
  Date.now = ofHost;
});

/** A Redis whose clock is ahead of this host by so many seconds, in which a process has stated `stated` as the time. */
const redisAhead = (seconds: number, stated: number | null = null) => {
  const redis = {
    seconds,
    time: async () => {
      const now = ofHost() + redis.seconds * 1000;
      return [Math.floor(now / 1000), (now % 1000) * 1000];
    },
    get: async () => (stated === null ? null : String(stated)),
    set: async () => 'OK',
    ready: new Set<() => Promise<void>>(),
    on: (_event: string, listener: () => Promise<void>) => redis.ready.add(listener),
    off: (_event: string, listener: () => Promise<void>) => redis.ready.delete(listener),
  };
  return redis;
};

const nearHost = (seconds: number) => expect(Math.abs(systemClock() - ofHost() - seconds * 1000)).toBeLessThan(2_000);

describe('the clock of a process', () => {
  it.each([2, -2, 365 * 24])('is that of Redis, %d h ahead of the host, also for libraries', async (hours) => {
    const { logger, lines } = recordingLogger();
    const following = await followRedisClock(redisAhead(hours * HOUR_S) as never, { logger });
    following.close();
    const expected = ofHost() + hours * HOUR_S * 1000;
    for (const now of [systemClock(), Date.now(), Date.parse(systemTime())]) {
      expect(Math.abs(now - expected)).toBeLessThan(1_000);
    }
    expect(Math.round(clockOffsetMs() / 1000)).toBe(-hours * HOUR_S);
    expect(lines.filter(({ msg }) => String(msg).includes('that of Redis'))).toHaveLength(1);
  });

  it('ignores jumps of the clock of the host, and keeps its last difference while Redis is away', async () => {
    const { logger } = recordingLogger();
    (await followRedisClock(redisAhead(0) as never, { logger })).close();
    const away = { ...redisAhead(0), time: () => Promise.reject(new Error('away')) };
    (await followRedisClock(away as never, { logger })).close();
    const before = systemClock();
    await pause(20);
    expect(systemClock() - before).toBeGreaterThanOrEqual(19);
    expect(systemClock() - before).toBeLessThan(10_000);
  });

  it('is that of Redis as soon as the connection is made', async () => {
    const { logger } = recordingLogger();
    const redis = redisAhead(3 * HOUR_S);
    const { time } = redis;
    redis.time = () => Promise.reject(new Error('being made'));
    const following = await followRedisClock(redis as never, { logger });
    nearHost(0);
    redis.time = time;
    for (const ready of redis.ready) await ready();
    nearHost(3 * HOUR_S);
    following.close();
    expect(redis.ready.size).toBe(0);
  });

  it('doubts a clock of Redis that jumps alone, in a running process and in one that starts, until it stays', async () => {
    jest.useFakeTimers({ doNotFake: ['Date', 'performance', 'nextTick', 'setImmediate'] });
    let monotonic = 0;
    const { logger, lines } = recordingLogger();
    const redis = redisAhead(0);
    const following = await followRedisClock(redis as never, { logger, monotonic: () => monotonic });
    const poll = async (afterMs: number) => {
      monotonic += afterMs;
      await jest.advanceTimersByTimeAsync(10_000);
    };
    redis.seconds = 20 * HOUR_S;
    await poll(10_000);
    nearHost(0);
    await poll(10_000);
    nearHost(0);
    expect(lines.filter(({ msg }) => String(msg).includes('has jumped'))).toHaveLength(1);
    await poll(300_000);
    nearHost(20 * HOUR_S);
    redis.seconds = 0;
    await poll(10_000);
    // The host agrees with Redis, so that its clock is followed at once.
    nearHost(0);
    following.close();
    jest.useRealTimers();

    followClock(ofHost());
    Date.now = ofHost;
    (await followRedisClock(redisAhead(20 * HOUR_S, ofHost() - 5_000) as never, { logger })).close();
    nearHost(0);
  });
});
