/** Lua scripts of acknowledgements and feedback. */
import { logEntryInLua } from './change-log.js';
import { CAMERA_EVENTS_KEPT, EVENTS_KEPT } from './keys.js';

/**
 * KEYS: change, camera events, acknowledged of all, acknowledged of the camera, event stream.
 * ARGV: id, time, confirmed (ms), camera event, stream event, commands that write an alert as JSON.
 * Returns 1 if this is the first acknowledgement.
 */
export const ACKNOWLEDGE = `
if redis.call('HEXISTS', KEYS[1], 'change') == 0 then return 0 end
if redis.call('HSETNX', KEYS[1], 'acknowledged', ARGV[2]) == 0 then return 0 end
redis.call('RPUSH', KEYS[2], ARGV[4])
redis.call('LTRIM', KEYS[2], -${CAMERA_EVENTS_KEPT}, -1)
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
redis.call('ZADD', KEYS[4], ARGV[3], ARGV[1])
redis.call('XADD', KEYS[5], 'MAXLEN', '~', ${EVENTS_KEPT}, '*', 'event', ARGV[5])
for _, command in ipairs(cjson.decode(ARGV[6])) do redis.call(unpack(command)) end
return 1`;

/** As ACKNOWLEDGE, without the confirmed time. */
export const WITHDRAW_ACKNOWLEDGEMENT = `
if redis.call('HDEL', KEYS[1], 'acknowledged') == 0 then return 0 end
redis.call('RPUSH', KEYS[2], ARGV[2])
redis.call('LTRIM', KEYS[2], -${CAMERA_EVENTS_KEPT}, -1)
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('XADD', KEYS[5], 'MAXLEN', '~', ${EVENTS_KEPT}, '*', 'event', ARGV[3])
return 1`;

/** KEYS: change, with feedback, log of changes. ARGV: id, feedback, now (ms). */
export const GIVE_FEEDBACK = `
if redis.call('HEXISTS', KEYS[1], 'change') == 0 then return 0 end
redis.call('HSET', KEYS[1], 'feedback', ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
${logEntryInLua('KEYS[3]', 'ARGV[1]')}
return 1`;

/** KEYS: change, with feedback, log of changes. ARGV: id. */
export const WITHDRAW_FEEDBACK = `
redis.call('HDEL', KEYS[1], 'feedback')
redis.call('ZREM', KEYS[2], ARGV[1])
${logEntryInLua('KEYS[3]', 'ARGV[1]')}
return 1`;
