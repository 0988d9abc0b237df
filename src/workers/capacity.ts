/** How much a worker takes on at once. */
import { availableParallelism } from 'node:os';
import type { Config } from '../config.js';
import type { ModelDescription } from '../schemas/model-description.js';

/**
 * @returns threads: pairs that the model works on at once; concurrency: jobs held, twice as many by default, so that the next
 * ones are fetched and decoded meanwhile.
 */
export function capacityOf(
  config: Pick<Config, 'inferenceThreads' | 'batchSize' | 'workerConcurrency'>,
  models: readonly Pick<ModelDescription, 'provider'>[],
): { threads: number; concurrency: number } {
  const onGpu = models.some(({ provider }) => provider.startsWith('cuda'));
  const perThread = onGpu ? config.batchSize : 1;
  const threads = (config.inferenceThreads || (onGpu ? 1 : availableParallelism())) * perThread;
  return { threads, concurrency: config.workerConcurrency || 2 * threads };
}
