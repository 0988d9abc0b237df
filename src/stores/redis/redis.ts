/** Connections to Redis, and the translation of its failures into ScenedeltaError. */
import { type ChainableCommander, Redis, type RedisOptions, ReplyError } from 'ioredis';
import { systemClock } from '../../base/clock.js';
import { ScenedeltaError } from '../../base/errors.js';
import type { Logger } from '../../process/logger.js';
import { redisAddress } from './redis-address.js';

/**
 * producer: a request waits for the answer, so an unreachable Redis is an error at once.
 * consumer: the commands of a worker wait until Redis is back, as BullMQ workers require.
 */
type RedisRole = 'producer' | 'consumer';

/** A command by name with its arguments, for a step of several that are run together. */
export type RedisCommand = readonly [name: string, ...args: (string | number)[]];

/**
 * Defines a Lua script that Redis runs atomically.
 * @returns a function that runs it with its KEYS and ARGV
 */
export function defineScript<T>(redis: Redis, name: string, lua: string) {
  redis.defineCommand(name, { lua });
  const command = Reflect.get(redis, name) as (...args: (string | number)[]) => Promise<T>;
  return (keys: readonly string[], ...args: (string | number)[]): Promise<T> =>
    command.call(redis, keys.length, ...keys, ...args);
}

/**
 * Time for the last bytes of a connection that the client closes. ioredis sets its timer (2 s by default) even if the
 * connection is closed already, and the process, or a test, would stay for as long.
 */
const DISCONNECT_MS = 50;
/** Interval between two log lines of one outage. */
const REPEAT_MS = 10_000;

/** @returns ms until the next attempt to connect */
const backOff = (times: number): number => Math.min(50 * 2 ** Math.min(times, 6), 2_000);

const ROLE_OPTIONS = {
  // commandTimeout also catches a Redis that accepts connections but no longer answers.
  producer: { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 5_000 },
  consumer: { maxRetriesPerRequest: null },
} as const satisfies Record<RedisRole, RedisOptions>;

/**
 * @param url as redisAddress takes it
 * @returns a client that connects in the background and reconnects without end. It logs each outage and its end.
 * @throws ScenedeltaError 'invalid-request' if the address is none of these.
 */
export function connectRedis(url: string, options: { role: RedisRole; logger: Logger }): Redis {
  const { logger, role } = options;
  const address = redisAddress(url);
  const clientOptions = {
    ...ROLE_OPTIONS[role],
    disconnectTimeout: DISCONNECT_MS,
    retryStrategy: backOff,
    sentinelRetryStrategy: backOff,
    // A primary that became a replica refuses writes; the address, or a sentinel, names the new one.
    reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
  };
  let refusedAt = 0;
  const report = (thrown: unknown) => {
    const error = withMend(thrown);
    if (error === thrown || systemClock() - refusedAt < REPEAT_MS) return;
    refusedAt = systemClock();
    logger.error({ role }, (error as ScenedeltaError).message);
  };
  const redis = untilClosed(
    typeof address === 'string' ? new Redis(address, clientOptions) : new Redis({ ...clientOptions, ...address }),
    report,
  );
  let awaySince: number | undefined;
  let loggedAt = 0;
  const away = (err?: Error) => {
    const now = systemClock();
    awaySince ??= now;
    if (now - loggedAt < REPEAT_MS) return;
    loggedAt = now;
    logger.warn(
      { role, reason: err?.message ?? 'connection closed', awayMs: now - awaySince },
      'redis unreachable, reconnecting',
    );
  };
  redis.on('error', away);
  redis.on('ready', () => {
    if (awaySince !== undefined) logger.info({ role, awayMs: systemClock() - awaySince }, 'redis is back');
    awaySince = undefined;
    loggedAt = 0;
  });
  return redis;
}

/**
 * ioredis ends a connection that is being made while sentinels announce a failover, and never connects again. Only
 * disconnect() and quit() may end one, or one that was duplicated from it.
 * @param report gets the error of each command
 */
function untilClosed(redis: Redis, report: (thrown: unknown) => void): Redis {
  const [disconnect, quit, duplicate, send] = [redis.disconnect, redis.quit, redis.duplicate, redis.sendCommand].map(
    (method) => method.bind(redis),
  ) as [Redis['disconnect'], Redis['quit'], Redis['duplicate'], Redis['sendCommand']];
  redis.sendCommand = (command, ...rest) => {
    command.promise.catch(report);
    return send(command, ...rest);
  };
  let isClosed = false;
  redis.disconnect = (reconnect) => {
    isClosed ||= reconnect !== true;
    disconnect(reconnect);
  };
  redis.quit = (...args) => {
    isClosed = true;
    return quit(...args);
  };
  redis.duplicate = (override) => untilClosed(duplicate(override), report);
  redis.on('end', () => {
    if (!isClosed) redis.connect().catch(() => {});
  });
  return redis;
}

const CANNOT_SERVE = 'OOM|MISCONF|LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS';
/**
 * Replies of a Redis that cannot serve for now: full memory, full disk, starting, fail-over. Before Redis 7, the
 * refusal of a command in a script has the prefix of the script's error, and in a transaction the prefix of EXECABORT.
 */
const UNAVAILABLE_REPLY = new RegExp(
  `^(?:ERR Error running script .*: -?|EXECABORT .* because of: )?(?:${CANNOT_SERVE})\\b`,
);

function cannotServe(reply: ReplyFailure): boolean {
  if (UNAVAILABLE_REPLY.test(reply.message)) return true;
  // EXEC only reports that a queued command was refused; ioredis keeps the replies to those commands.
  const refusals = /^EXECABORT\b/.test(reply.message) ? (reply.previousErrors ?? []) : [];
  return refusals.length > 0 && refusals.every(cannotServe);
}

/** Replies to a user of Redis that has no right to a command or a key, also of one in a script. */
const REFUSED_REPLY = /^NOPERM\b|\bACL failure in script\b|\buser executing the script can't\b/;

/** @returns an error whose message is one line that names the mend; other errors as they are */
function withMend(thrown: unknown, what = 'A command'): unknown {
  if (!isReply(thrown) || !REFUSED_REPLY.test(thrown.message)) return thrown;
  const [reason] = thrown.message.split(/ script: |\n/);
  const mend = 'deploy/README.md has the ACL line of the user in REDIS_URL';
  return new ScenedeltaError('queue-unavailable', `${what}: Redis refuses it (${reason}); ${mend}`, { cause: thrown });
}

/**
 * Runs commands. A Redis that is unreachable, cannot write or refuses its user becomes 'queue-unavailable'; any other
 * error is a bug and thrown on.
 * @throws ScenedeltaError 'queue-unavailable'
 */
export async function redisCall<T>(what: string, commands: () => Promise<T>): Promise<T> {
  try {
    return await commands();
  } catch (thrown) {
    if (thrown instanceof ScenedeltaError) throw thrown;
    if (isReply(thrown) && !cannotServe(thrown)) throw withMend(thrown, what);
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

/** A field of a hash that has JSON. @returns undefined if it is absent or '' */
export const parsedField = <T>(json: string | null | undefined): T | undefined =>
  json == null || json === '' ? undefined : (JSON.parse(json) as T);

/** Runs commands in one transaction, after those that it has. @throws the first error among the replies */
export async function runInOneStep(transaction: ChainableCommander, commands: readonly RedisCommand[]): Promise<void> {
  for (const [name, ...args] of commands) transaction.call(String(name), ...args.map(String));
  repliesOf(await transaction.exec());
}

/** Whether `redisCall` translated an unreachable Redis into this error. */
export const isUnavailable = (thrown: unknown): boolean =>
  thrown instanceof ScenedeltaError && thrown.code === 'queue-unavailable';

/** Checks the name as well as the class, because a second copy of ioredis (that of BullMQ) has a class of its own. */
const isReply = (thrown: unknown): thrown is ReplyFailure =>
  thrown instanceof ReplyError || (thrown instanceof Error && thrown.name === 'ReplyError');

interface ReplyFailure extends Error {
  /** of EXEC: the errors of the commands before it */
  readonly previousErrors?: readonly Error[];
}
