/** Connections to Redis, and what its failures mean to a caller. */
import { Redis, type RedisOptions, ReplyError } from 'ioredis';
import { ScenedeltaError } from '../errors.js';
import type { Logger } from '../logger.js';
import { withoutSecrets } from '../redact-url.js';

/**
 * producer: a request is waiting for the answer, so a missing Redis is an error at once.
 * consumer: a worker has nothing better to do, so its commands wait until Redis is back (BullMQ workers demand this).
 */
export type RedisRole = 'producer' | 'consumer';

/** A command by name with its arguments, for a step of several that are run together. */
export type RedisCommand = readonly [name: string, ...args: (string | number)[]];

/** How often an outage that goes on is said again. */
const REPEAT_MS = 10_000;

const ROLE_OPTIONS = {
  // commandTimeout also catches a Redis that accepts connections but no longer answers.
  producer: { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 5_000 },
  consumer: { maxRetriesPerRequest: null },
} as const satisfies Record<RedisRole, RedisOptions>;

/**
 * @param url redis://, rediss:// or unix:///path/to.sock (with ?db=N where it is not 0)
 * @returns a client that connects in the background and reconnects for ever, logging each outage and its end.
 * @throws ScenedeltaError 'invalid-request' where the address is none of these.
 */
export function connectRedis(url: string, options: { role: RedisRole; logger: Logger }): Redis {
  const { logger, role } = options;
  const redis = new Redis(redisAddress(url), {
    ...ROLE_OPTIONS[role],
    retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 6), 2_000),
  });
  let awaySince: number | undefined;
  let saidAt = 0;
  const away = (err?: Error) => {
    const now = Date.now();
    awaySince ??= now;
    if (now - saidAt < REPEAT_MS) return;
    saidAt = now;
    logger.warn(
      { role, reason: err?.message ?? 'connection closed', awayMs: now - awaySince },
      'redis away, reconnecting',
    );
  };
  redis.on('error', away);
  redis.on('ready', () => {
    if (awaySince !== undefined) logger.info({ role, awayMs: Date.now() - awaySince }, 'redis is back');
    awaySince = undefined;
    saidAt = 0;
  });
  return redis;
}

/** unix:// is our spelling; ioredis wants the bare path. */
function redisAddress(url: string): string {
  if (/^rediss?:\/\/./.test(url)) return url;
  const socket = /^unix:\/\/(\/.+)$/.exec(url)?.[1];
  if (socket !== undefined) return socket;
  throw new ScenedeltaError(
    'invalid-request',
    `REDIS_URL=${JSON.stringify(withoutSecrets(url))}: expected redis://host:port, rediss://host:port or unix:///path.sock`,
    { field: 'REDIS_URL' },
  );
}

const CANNOT_SERVE = 'OOM|MISCONF|LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS';
/**
 * Replies by which Redis says that it cannot serve for now: full memory, full disk, starting, fail-over. A script's command is
 * refused in the script's words before Redis 7, a transaction by what was wrong with it.
 */
const UNAVAILABLE_REPLY = new RegExp(
  `^(?:ERR Error running script .*: -?|EXECABORT .* because of: )?(?:${CANNOT_SERVE})\\b`,
);

function cannotServe(reply: ReplyFailure): boolean {
  if (UNAVAILABLE_REPLY.test(reply.message)) return true;
  // EXEC only says that a command was refused when it was queued; ioredis keeps what that command was told
  const refusals = /^EXECABORT\b/.test(reply.message) ? (reply.previousErrors ?? []) : [];
  return refusals.length > 0 && refusals.every(cannotServe);
}

/**
 * Runs commands; a Redis that is away or cannot write becomes 'queue-unavailable', anything else (a bug) is passed on.
 * @throws ScenedeltaError 'queue-unavailable'
 */
export async function redisCall<T>(what: string, commands: () => Promise<T>): Promise<T> {
  try {
    return await commands();
  } catch (thrown) {
    if (thrown instanceof ScenedeltaError) throw thrown;
    if (isReply(thrown) && !cannotServe(thrown)) throw thrown;
    throw new ScenedeltaError('queue-unavailable', `${what}: Redis cannot be reached or cannot write`, {
      cause: thrown,
    });
  }
}

/** @throws the first error among the replies of a pipeline or transaction. */
export function repliesOf<T>(results: [error: Error | null, reply: unknown][] | null): T[] {
  return (results ?? []).map(([error, reply]) => {
    if (error !== null) throw error;
    return reply as T;
  });
}

/** Whether that is what `redisCall` made of it. */
export const isUnavailable = (thrown: unknown): boolean =>
  thrown instanceof ScenedeltaError && thrown.code === 'queue-unavailable';

/** By name as well as by class: a second copy of ioredis (BullMQ's) has a class of its own. */
const isReply = (thrown: unknown): thrown is ReplyFailure =>
  thrown instanceof ReplyError || (thrown instanceof Error && thrown.name === 'ReplyError');

interface ReplyFailure extends Error {
  /** of EXEC: what the commands before it were told */
  readonly previousErrors?: readonly Error[];
}
