/** The batch resource, from its record. */
import { Type } from 'typebox';
import { notFound } from '../../base/errors.js';
import { type Batch, type BatchMode, formatsOf } from '../../schemas/batch.js';
import { roundFigures } from '../../schemas/rounding.js';
import { type BatchRecord, seesBatch } from '../../stores/batches/batches.js';
import { progressOf } from '../../stores/batches/progress.js';
import type { Visibility } from '../../stores/redis/visibility.js';
import type { ApiDependencies } from '../dependencies.js';

const LISTED_FAILURES = 100;

export function presentBatch(record: BatchRecord): Batch {
  const { id, status, createdAt, finishedAt, error, plan } = record;
  const { metadata } = record.request;
  const mode = modeOf(record);
  const failures = plan?.failures ?? [];
  return roundFigures({
    id,
    mode,
    status,
    created_at: new Date(createdAt).toISOString(),
    finished_at: finishedAt === null ? null : new Date(finishedAt).toISOString(),
    ...progressOf(record),
    failed_inputs: failures.slice(0, LISTED_FAILURES),
    warnings: [...(plan?.warnings ?? [])],
    error,
    results:
      status === 'completed'
        ? Object.fromEntries(formatsOf(mode).map((format) => [format, `/v1/batches/${id}/results?format=${format}`]))
        : null,
    ...(metadata === undefined ? {} : { metadata }),
  });
}

export const modeOf = ({ request }: Pick<BatchRecord, 'request'>): BatchMode =>
  request.when === undefined ? 'changes' : 'when';

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
