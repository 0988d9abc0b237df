/** Batch that a request may see. */
import { Type } from 'typebox';
import { notFound } from '../../errors.js';
import { type BatchRecord, seesBatch } from '../../stores/batches.js';
import type { Visibility } from '../../stores/visibility.js';
import type { ApiDependencies } from '../dependencies.js';

export const BatchIdParams = Type.Object({
  id: Type.String({
    pattern: '^bat_[0-9a-z]{26}$',
    description: 'Id of the batch.',
    examples: ['bat_01k9x3v5s8q2m7c4w6n1b0t9hz'],
  }),
});

/** @throws ScenedeltaError 'not-found', also for a batch of another owner */
export async function findBatch(
  { batches }: { readonly batches: Pick<ApiDependencies['batches'], 'get'> },
  id: string,
  visibility: Visibility,
): Promise<BatchRecord> {
  const batch = await batches.get(id);
  if (batch !== undefined && seesBatch(visibility, batch)) return batch;
  throw notFound(`There is no batch ${id}: it never was or has expired`);
}
