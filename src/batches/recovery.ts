/**
 * Recovery of batches: queues the step that a crash kept from its queue, as of an API that was killed after it had
 * stored a batch. Every step is idempotent.
 */
import { finishJobId, planJobId } from '../jobs/batch-jobs.js';
import type { JobProducer } from '../jobs/producer.js';
import type { Logger } from '../process/logger.js';
import type { BatchStore } from '../stores/batches/batches.js';
import type { BatchProcessor } from './processor.js';

interface Dependencies {
  readonly batches: Pick<BatchStore, 'unfinished' | 'get'>;
  readonly queue: Pick<JobProducer, 'states' | 'forget' | 'addBatch'>;
  readonly processor: Pick<BatchProcessor, 'nextRun' | 'addRun'>;
  /** epoch ms */
  readonly clock: () => number;
  readonly logger: Logger;
}

/** Unfinished batches that are looked at; the others follow when these have ended. */
const AT_MOST = 10_000;

/**
 * @param afterMs age from which a batch must have a job: longer than any interval between two steps
 * @returns a function that runs one round and returns how many batches it queued again
 */
export function createBatchRecovery(
  { batches, queue, processor, clock, logger }: Dependencies,
  afterMs: number,
): () => Promise<number> {
  const recover = async (id: string): Promise<boolean> => {
    const batch = await batches.get(id);
    if (batch === undefined) return false;
    const [planJob, finishJob] = [planJobId(id), finishJobId(id, batch.run.number)];
    const [plan = 'absent', finish = 'absent'] = await queue.states('batch', [planJob, finishJob]);
    if (plan === 'held' || finish === 'held') return false;
    if (batch.status === 'queued') {
      if (plan !== 'absent') await queue.forget('batch', planJob);
      await queue.addBatch(batch);
    } else if (batch.status !== 'running') return false;
    else if (finish !== 'absent') await processor.nextRun(batch);
    else await processor.addRun(batch);
    logger.warn({ batch_id: id, status: batch.status }, 'batch had no job, queued again');
    return true;
  };

  return async () => {
    let recovered = 0;
    for (const id of await batches.unfinished(clock() - afterMs, AT_MOST)) if (await recover(id)) recovered++;
    return recovered;
  };
}
