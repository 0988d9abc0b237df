/** Serves a queue of questions. */
import { type Common, type QueueWorkers, runJob, startWorker } from '../jobs/run-jobs.js';
import type { QuestionProcessor } from './question-job.js';

/** @param deps.concurrency questions that wait for the model at a time */
export function startQuestionWorker(
  deps: Common & { processor: QuestionProcessor; queue: string; concurrency: number },
): QueueWorkers {
  const worker = startWorker(
    deps.queue,
    (job) => runJob(deps.logger, job, () => deps.processor(String(job.id), job.data)),
    deps,
    deps.concurrency,
  );
  return { close: () => worker.close() };
}
