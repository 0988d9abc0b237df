/**
 * The asking side of questions.ts: adds the job of a question and waits for the reply. A reply that comes too late is
 * lost, which harms nothing: the frame of a pull is compared nevertheless.
 *
 * `job.waitUntilFinished` of BullMQ needs no channel. It would keep each answer, and with it the picture of a camera,
 * in the job and in the stream of events, which every API process reads. It takes twice as long: the median of 200
 * questions in turn was 5 ms by the channel and 9 to 11 ms by the library, on a Redis that syncs each write.
 */
import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { ScenedeltaError } from '../base/errors.js';
import type { Logger } from '../process/logger.js';
import { KEYS } from '../stores/redis/keys.js';
import { redisCall } from '../stores/redis/redis.js';
import { jobPayload } from './payloads.js';
import type { Answers, Question, QuestionOf, Reply } from './questions.js';
import { openQueue, QUESTION_OPTIONS, QUESTION_QUEUE } from './queues.js';

/** Longest wait for an answer. */
const WAIT_MS = 5_000;
/** Questions of one process that wait at a time. */
const MOST_WAITING = 64;

export type Questioner = ReturnType<typeof createQuestioner>;

export interface QuestionerOptions {
  readonly logger: Logger;
  readonly waitMs?: number;
  readonly mostWaiting?: number;
}

/** @param redis shared; the caller closes it */
export function createQuestioner(
  redis: Redis,
  { logger, waitMs = WAIT_MS, mostWaiting = MOST_WAITING }: QuestionerOptions,
) {
  const queue = openQueue(QUESTION_QUEUE, redis);
  const channel = KEYS.answers(randomUUID());
  const waiting = new Map<string, (reply: Reply) => void>();
  const replies = redis.duplicate({ enableOfflineQueue: true, lazyConnect: true });
  replies.on('error', (err) => logger.debug({ reason: err.message }, 'answers unreachable'));
  replies.on('message', (_channel, message: string) => {
    const reply = JSON.parse(message) as Reply;
    waiting.get(reply.id)?.(reply);
  });
  let subscribed: Promise<unknown> | undefined;
  /** The first question opens the connection, which then stays subscribed. */
  const listen = (): Promise<unknown> => {
    subscribed ??= replies.subscribe(channel).catch((thrown) => {
      subscribed = undefined;
      throw thrown;
    });
    return subscribed;
  };

  const ask = async (question: Question, longestMs: number): Promise<Answers[Question['kind']]> => {
    const id = randomUUID();
    let timer: NodeJS.Timeout | undefined;
    const replied = new Promise<Reply | undefined>((resolve) => {
      waiting.set(id, resolve);
      timer = setTimeout(resolve, longestMs, undefined).unref();
    });
    try {
      await redisCall('Asking a worker', async () => {
        await listen();
        await queue.add(question.kind, jobPayload({ replyTo: channel, question }), { ...QUESTION_OPTIONS, jobId: id });
      });
      const reply = await replied;
      if (reply === undefined) {
        await redisCall('Withdrawing a question', () => queue.remove(id)).catch(() => {});
        throw new ScenedeltaError('overloaded', `No worker answered within ${longestMs / 1000} s`);
      }
      if ('error' in reply) {
        const { code, detail, field } = reply.error;
        throw new ScenedeltaError(code, detail, field === undefined ? {} : { field });
      }
      return reply.answer;
    } finally {
      clearTimeout(timer);
      waiting.delete(id);
    }
  };

  return {
    /**
     * @param longestMs longest wait
     * @returns the answer of a worker
     * @throws ScenedeltaError 'overloaded' if none answers within `longestMs` or too many questions wait,
     *   'queue-unavailable', and the error of the worker
     */
    async ask<K extends Question['kind']>(question: QuestionOf<K>, longestMs = waitMs): Promise<Answers[K]> {
      if (waiting.size >= mostWaiting) {
        const expected = `expected fewer than ${mostWaiting}`;
        throw new ScenedeltaError('overloaded', `${waiting.size} questions wait for a worker, ${expected}`);
      }
      // BullMQ waits for a connection before its first command, but a request must not.
      if (redis.options.enableOfflineQueue === false && redis.status !== 'ready') {
        throw new ScenedeltaError('queue-unavailable', `Redis cannot be reached (connection ${redis.status})`);
      }
      // The reply has the id of this question, so it is an answer of its kind.
      return (await ask(question, longestMs)) as Answers[K];
    },
    async close(): Promise<void> {
      replies.disconnect();
      await queue.close();
    },
  };
}
