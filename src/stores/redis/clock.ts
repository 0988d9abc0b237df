/** The clock of Redis as the clock of a process, so that times of processes on several hosts can be compared. */
import type { Redis } from 'ioredis';
import { clockOffsetMs, followClock } from '../../base/clock.js';
import type { Logger } from '../../process/logger.js';

const EVERY_MS = 10_000;
/** An answer that took longer says too little about when it was given. */
const PROMPT_MS = 1_000;
/** From which the difference of the clocks is logged. */
const NOTABLE_MS = 60_000;

/**
 * Follows the clock of Redis from the first answer on; without Redis the clock of the system counts.
 * @returns how to stop
 */
export async function followRedisClock(redis: Redis, { logger }: { logger: Logger }): Promise<{ close(): void }> {
  let logged = 0;
  const measure = async () => {
    const asked = performance.now();
    const [seconds, micros] = await redis.time();
    const tookMs = performance.now() - asked;
    if (tookMs > PROMPT_MS) return;
    followClock(Number(seconds) * 1000 + Number(micros) / 1000 + tookMs / 2);
    const offsetMs = clockOffsetMs();
    if (Math.abs(offsetMs - logged) < NOTABLE_MS) return;
    logged = offsetMs;
    logger.warn(
      { offset_s: Math.round(offsetMs / 1000) },
      'the clock of this host differs from that of Redis, which counts',
    );
  };
  // While Redis is away, the last difference stays.
  const attempt = () => measure().catch((err) => logger.debug({ err }, 'clock of Redis not read'));
  await attempt();
  const timer = setInterval(attempt, EVERY_MS).unref();
  return { close: () => clearInterval(timer) };
}
