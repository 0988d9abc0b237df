/** Processes whose hosts have other clocks than Redis. */
import { setTimeout as pause } from 'node:timers/promises';
import { clockOffsetMs, followClock, systemClock, systemTime } from '../../src/base/clock.js';
import { followRedisClock } from '../../src/stores/redis/clock.js';
import { recordingLogger } from '../helpers/recording-logger.js';

const HOUR_S = 3_600;
const ofHost = Date.now;
afterEach(() => {
  followClock(ofHost());
  Date.now = ofHost;
});

/** A Redis whose clock is ahead of this host by so many seconds. */
const redisAhead = (seconds: number) => ({
  time: async () => {
    const now = ofHost() + seconds * 1000;
    return [Math.floor(now / 1000), (now % 1000) * 1000];
  },
});

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
    const away = { time: () => Promise.reject(new Error('away')) };
    (await followRedisClock(away as never, { logger })).close();
    const before = systemClock();
    await pause(20);
    expect(systemClock() - before).toBeGreaterThanOrEqual(19);
    expect(systemClock() - before).toBeLessThan(10_000);
  });
});
