/** The clock of Redis as the clock of a process, so that times of processes on several hosts can be compared. */
import type { Redis } from 'ioredis';
import { clockOffsetMs, followClock, systemClock } from '../../base/clock.js';
import type { Logger } from '../../process/logger.js';
import { KEYS } from './keys.js';

/** Between two readings; until the first one that counts, each second. */
const EVERY_S = 10;
/** At the start, of which each may take too long to count. */
const FIRST_TRIES = 3;
/** An answer that took longer says too little about when it was given. */
const PROMPT_MS = 1_000;
/** From which the difference of two clocks is notable: it is logged, and a jump of the clock of Redis is doubted. */
const NOTABLE_MS = 60_000;
/** A clock of Redis that jumped alone is followed once it has kept its new time for so long. */
const CONFIRMED_MS = 300_000;

const isNear = (a: number, b: number): boolean => Math.abs(a - b) < NOTABLE_MS;

/**
 * Follows the clock of Redis from the first answer on; without Redis the clock of the system counts. If the clock of
 * Redis jumps, and that of this host has not moved along, the process goes on as before until the jump is confirmed. A
 * process that starts meanwhile finds the time of the service in Redis: it doubts the clock of Redis if that time and
 * the clock of its host agree.
 * @param options.monotonic ms
 * @returns how to stop
 */
export async function followRedisClock(
  redis: Pick<Redis, 'time' | 'get' | 'set' | 'on' | 'off'>,
  { logger, monotonic = () => performance.now() }: { logger: Logger; monotonic?: () => number },
): Promise<{ close(): void }> {
  let logged = 0;
  let isFollowing = false;
  let jump: { readonly by: number; readonly since: number } | undefined;

  /** @returns whether the clock of Redis is to be followed */
  const isToFollow = (redisNow: number, stated: number): boolean => {
    const host = systemClock() + clockOffsetMs();
    if (isNear(redisNow, host)) return true;
    const expected = isFollowing ? systemClock() : isNear(host, stated) ? host : redisNow;
    if (isNear(redisNow, expected)) return true;
    const by = redisNow - expected;
    if (jump === undefined || !isNear(by, jump.by)) {
      jump = { by, since: monotonic() };
      logger.warn({ jump_s: Math.round(by / 1000) }, 'the clock of Redis has jumped: followed if it stays so');
    }
    return monotonic() - jump.since >= CONFIRMED_MS;
  };

  const measure = async () => {
    const asked = performance.now();
    const [[seconds, micros], stated] = await Promise.all([redis.time(), redis.get(KEYS.clock)]);
    const tookMs = performance.now() - asked;
    if (tookMs > PROMPT_MS) return;
    const redisNow = Number(seconds) * 1000 + Number(micros) / 1000 + tookMs / 2;
    if (isToFollow(redisNow, Number(stated))) {
      followClock(redisNow);
      jump = undefined;
    } else if (!isFollowing) followClock(systemClock());
    isFollowing = true;
    const offsetMs = clockOffsetMs();
    if (!isNear(offsetMs, logged)) {
      logged = offsetMs;
      logger.warn(
        { offset_s: Math.round(offsetMs / 1000) },
        'the clock of this host differs from that of Redis, which counts',
      );
    }
    await redis.set(KEYS.clock, String(systemClock()));
  };
  // While Redis is away, the last difference stays.
  const attempt = () => measure().catch((err) => logger.debug({ err }, 'clock of Redis not read'));
  // A connection that is being made refuses commands, and a server that took over has a clock of its own.
  redis.on('ready', attempt);
  for (let tries = 0; tries < FIRST_TRIES && !isFollowing; tries++) await attempt();
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += 1;
    if (!isFollowing || seconds % EVERY_S === 0) void attempt();
  }, 1_000).unref();
  return {
    close() {
      redis.off('ready', attempt);
      clearInterval(timer);
    },
  };
}
