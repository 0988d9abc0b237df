/** Serves the queue of questions. */
import { QUESTION_QUEUE } from '../jobs/queues.js';
import { type Common, type QueueWorkers, runJob, startWorker } from '../jobs/run-jobs.js';
import type { QuestionProcessor } from './question-job.js';

/** Questions that wait for the model at a time. */
const CONCURRENCY = 4;

export function startQuestionWorker(deps: Common & { processor: QuestionProcessor }): QueueWorkers {
  const worker = startWorker(
    QUESTION_QUEUE,
    (job) => runJob(deps.logger, job, () => deps.processor(String(job.id), job.data)),
    deps,
    CONCURRENCY,
  );
  return { close: () => worker.close() };
}
