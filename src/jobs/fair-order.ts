/**
 * An order of the jobs of a queue that is fair between owners: start-time fair queueing (Goyal, Vin and Cheng, 1996)
 * with one job as the unit. Each job gets a turn, the lowest of which runs first: the one after its owner's last turn,
 * and never one before the turn that runs now. So the jobs of two owners alternate, however many each has.
 */
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { KEYS } from '../stores/keys.js';
import { defineScript } from '../stores/redis.js';

/** Largest priority of BullMQ. Jobs beyond it run in the order of their making. */
const LAST_TURN = 2 ** 21 - 1;
const STATES = ['wait', 'paused', 'prioritized', 'delayed', 'active', 'waiting-children'] as const;

/** KEYS: last turn per owner, turn that runs, lists of the queue. ARGV: owner, count. An idle queue starts at 1. */
const TAKE = `
if redis.call('EXISTS', unpack(KEYS, 3)) == 0 then redis.call('DEL', KEYS[1], KEYS[2]) end
local now = tonumber(redis.call('GET', KEYS[2]) or '0')
local last = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or '0')
local first = math.max(now, last) + 1
redis.call('ZADD', KEYS[1], first + tonumber(ARGV[2]) - 1, ARGV[1])
return first`;

/** KEYS: last turn per owner, turn that runs. ARGV: turn of a job that begins. */
const BEGIN = `
local now = math.max(tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(ARGV[1]))
redis.call('SET', KEYS[2], now)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
return 1`;

export function createFairOrder(redis: Redis, queue: Queue) {
  const runTake = defineScript<number>(redis, 'sdTurnsTake', TAKE);
  const runBegin = defineScript<number>(redis, 'sdTurnsBegin', BEGIN);
  const keys = [KEYS.lastTurns(queue.name), KEYS.runningTurn(queue.name)];
  return {
    /** @returns the priorities of the owner's next `count` jobs */
    async take(owner: string, count = 1): Promise<number[]> {
      const first = await runTake([...keys, ...STATES.map((state) => queue.toKey(state))], owner, count);
      return Array.from({ length: count }, (_, i) => Math.min(first + i, LAST_TURN));
    },
    /** @param turn priority of a job that begins; undefined: it has none */
    begin: async (turn: number | undefined): Promise<void> => {
      if (turn) await runBegin(keys, turn);
    },
  };
}
