/** Lua scripts of the log of deliveries. */

/**
 * KEYS: open deliveries, deliveries of the alert, if there is one.
 * ARGV: JSON of the deliveries (id, key, lists, delivery), now (ms), retention (ms).
 * The deliveries of an alert are counted before the first of them can end.
 */
export const CREATE_DELIVERIES = `
for _, one in ipairs(cjson.decode(ARGV[1])) do
  if redis.call('EXISTS', one.key) == 0 then
    redis.call('HSET', one.key, 'delivery', one.delivery, 'state', 'pending', 'next', '')
    redis.call('PEXPIRE', one.key, ARGV[3])
    redis.call('ZADD', KEYS[1], ARGV[2], one.id)
    for _, list in ipairs(one.lists) do
      redis.call('ZREMRANGEBYSCORE', list, '-inf', '(' .. (ARGV[2] - ARGV[3]))
      redis.call('ZADD', list, ARGV[2], one.id)
      redis.call('PEXPIRE', list, ARGV[3])
    end
    if KEYS[2] then
      redis.call('SADD', KEYS[2], one.id)
      redis.call('PEXPIRE', KEYS[2], ARGV[3])
    end
  end
end
return 1`;

/**
 * KEYS: delivery, open deliveries; with a camera event also the camera's events, the camera, deliveries of the alert.
 * ARGV: id, attempt's field, attempt, state, next attempt ('' = none), its time in ms, camera event, retention (ms).
 * A final state never changes; a later attempt is logged without effect. The camera event is queued once per alert,
 * unless the camera was erased: with the first delivery that arrives, or with the last one that fails. A delivery that
 * was sent again on request has no camera event.
 */
export const RECORD_ATTEMPT = `
local state = redis.call('HGET', KEYS[1], 'state')
if not state then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
if state ~= 'pending' then return 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[4], 'next', ARGV[5])
if ARGV[4] == 'pending' then
  redis.call('ZADD', KEYS[2], ARGV[6], ARGV[1])
  return 1
end
redis.call('ZREM', KEYS[2], ARGV[1])
if not KEYS[3] or redis.call('HEXISTS', KEYS[1], 'resent') == 1 then return 1 end
redis.call('SREM', KEYS[5], ARGV[1])
local arrived = redis.call('SISMEMBER', KEYS[5], 'arrived') == 1
if ARGV[4] == 'delivered' then
  redis.call('SADD', KEYS[5], 'arrived')
  redis.call('PEXPIRE', KEYS[5], ARGV[8])
elseif redis.call('SCARD', KEYS[5]) > 0 then
  return 1
end
if not arrived and redis.call('HEXISTS', KEYS[4], 'camera') == 1 then redis.call('RPUSH', KEYS[3], ARGV[7]) end
return 1`;

/** KEYS: delivery, open deliveries. ARGV: id, number of attempts so far, now (ms). */
export const RESEND_DELIVERY = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'state', 'pending', 'next', '', 'resent', ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return 1`;
