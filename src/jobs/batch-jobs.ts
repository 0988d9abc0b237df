/** Jobs of batches: one that lists the inputs, one per camera, and a last one when all cameras have ended. */
import type { FlowProducer, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { KEYS } from '../stores/redis/keys.js';
import { defineScript } from '../stores/redis/redis.js';
import type { QueueCall } from './job-states.js';
import { jobPayload } from './payloads.js';
import { BATCH_OPTIONS, BATCH_QUEUE } from './queues.js';

type BatchIds = { readonly id: string; readonly owner: string };

export function batchJobs(
  redis: Redis,
  { batches, flows, call }: { batches: Queue; flows: FlowProducer; call: QueueCall },
) {
  const batchOrder = createFairOrder(redis, batches);
  return {
    /** Lets a worker list the inputs of a batch. Adding it twice changes nothing. */
    addBatch: ({ id, owner }: BatchIds): Promise<void> =>
      call('Queueing the batch', async () => {
        const [priority = 0] = await batchOrder.take(owner);
        const options = { ...BATCH_OPTIONS, jobId: planJobId(id), priority };
        await batches.add('plan', jobPayload({ batchId: id, step: 'plan' }), options);
      }),
    /** Notes that a worker runs a job of a batch. @param turn its priority */
    batchJobBegins: (turn: number | undefined): Promise<void> =>
      call('Beginning a job of a batch', () => batchOrder.begin(turn)),
    /**
     * One job per camera of the batch, and a last one when all have ended, however they did. Adding it twice changes
     * nothing.
     * @param cameras indices in the plan
     */
    addBatchRun: (
      { id: batchId, owner }: BatchIds,
      { run, cameras }: { run: number; cameras: readonly number[] },
    ): Promise<void> =>
      call('Queueing the cameras of a batch', async () => {
        const turns = await batchOrder.take(owner, cameras.length);
        const children = cameras.map((camera, i) => ({
          name: 'camera',
          queueName: BATCH_QUEUE,
          data: jobPayload({ batchId, step: 'camera', camera, run }),
          opts: {
            ...BATCH_OPTIONS,
            jobId: cameraJobId(batchId, { run, camera }),
            ignoreDependencyOnFailure: true,
            priority: turns[i] as number,
          },
        }));
        // Without a turn it comes before all others: it is short, and its batch has waited.
        const opts = { ...BATCH_OPTIONS, jobId: finishJobId(batchId, run) };
        const data = jobPayload({ batchId, step: 'finish', run });
        await flows.add({ name: 'finish', queueName: BATCH_QUEUE, data, opts, children });
      }),
    /**
     * Removes the ended jobs of a batch, so that they can be added again.
     * @returns false if a worker still holds one of them
     */
    forgetBatch: (batchId: string, { run, cameras }: { run: number; cameras: number }): Promise<boolean> =>
      call('Removing the jobs of a batch', async () => {
        const ofCameras = Array.from({ length: cameras }, (_, camera) => cameraJobId(batchId, { run, camera }));
        for (const id of [finishJobId(batchId, run), planJobId(batchId), ...ofCameras]) {
          const job = await batches.getJob(id);
          if (job === undefined) continue;
          if (await job.isActive()) return false;
          await job.remove({ removeChildren: false });
        }
        return true;
      }),
    /** Signals the workers that hold jobs of the batch to stop. */
    cancelBatch: (batchId: string): Promise<void> =>
      call('Cancelling the batch', async () => void (await redis.publish(KEYS.cancellations, batchId))),
  };
}

export const planJobId = (batchId: string): string => `${batchId}-plan`;
/** The first run has no suffix. */
const suffixOf = (run: number): string => (run === 0 ? '' : `-r${run}`);
const cameraJobId = (batchId: string, { run, camera }: { run: number; camera: number }): string =>
  `${batchId}-camera-${camera}${suffixOf(run)}`;
/** Id of the last job of a run. */
export const finishJobId = (batchId: string, run: number): string => `${batchId}-finish${suffixOf(run)}`;

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
