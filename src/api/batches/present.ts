/** The batch resource, from its record. */
import { Type } from 'typebox';
import { notFound } from '../../base/errors.js';
import { type Batch, type BatchCamera, type BatchMode, formatsOf } from '../../schemas/batch.js';
import { roundFigures } from '../../schemas/rounding.js';
import { type BatchProgress, type BatchRecord, seesBatch } from '../../stores/batches/batches.js';
import type { Visibility } from '../../stores/redis/visibility.js';
import type { ApiDependencies } from '../dependencies.js';

const LISTED_FAILURES = 100;
const NOTHING: BatchProgress = { reached: null, done: false, frames: 0, examined: 0, changes: 0, gaps: 0, failures: 0 };

export function presentBatch(record: BatchRecord): Batch {
  const { id, status, createdAt, finishedAt, error, plan } = record;
  const { metadata } = record.request;
  const mode = modeOf(record);
  const cameras = (plan?.cameras ?? []).map((camera, i): BatchCamera => {
    const { share: _share, ...progress } = record.progress[i] ?? NOTHING;
    const { privacy: _privacy, ...planned } = camera;
    return { ...planned, ...progress };
  });
  const failures = plan?.failures ?? [];
  const total = (name: 'frames' | 'examined' | 'changes' | 'gaps' | 'failures') =>
    cameras.reduce((sum, camera) => sum + camera[name], 0);
  return roundFigures({
    id,
    mode,
    status,
    created_at: new Date(createdAt).toISOString(),
    finished_at: finishedAt === null ? null : new Date(finishedAt).toISOString(),
    progress: progressOf(cameras, record.progress),
    frames: total('frames'),
    examined: total('examined'),
    changes: total('changes'),
    gaps: total('gaps'),
    failures: total('failures') + failures.length + (plan?.unlisted ?? 0),
    cameras,
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

/** A camera counts by the length of its recordings. */
function progressOf(cameras: readonly BatchCamera[], progress: BatchRecord['progress']): number {
  let [reached, all] = [0, 0];
  for (const [i, { starts_at, ends_at, reached: at, done }] of cameras.entries()) {
    const begin = Date.parse(starts_at);
    const length = Math.max(1, Date.parse(ends_at) - begin);
    all += length;
    const passed = at === null ? 0 : Math.min(length, Math.max(0, Date.parse(at) - begin));
    reached += done ? length : (progress[i]?.share ?? passed / length) * length;
  }
  return all === 0 ? 0 : reached / all;
}

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
