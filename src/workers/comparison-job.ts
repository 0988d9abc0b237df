/** One comparison, from its queued reference to its saved result. Knows nothing of BullMQ: queue-workers.ts adapts. */

import { asScenedeltaError, ScenedeltaError } from '../errors.js';
import { asUrlFailure, type FetchFrame } from '../frames/fetch.js';
import type { StoredFrame } from '../frames/keep.js';
import { encodeHeatmapData, type HeatmapData } from '../heatmaps/data.js';
import type { Side } from '../images.js';
import { ComparisonJobSchema, parseJob } from '../jobs/payloads.js';
import type { Logger } from '../logger.js';
import type { Comparison, Finding, TimingsMs } from '../schemas/comparison.js';
import { isFinal } from '../schemas/comparison.js';
import { type BlobStore, heatmapKey } from '../stores/blobs.js';
import type { CameraStore } from '../stores/cameras.js';
import type { ComparisonRequest, ResultStore, StoredComparison } from '../stores/results.js';
import type { EnqueueDelivery } from './enqueue-delivery.js';

/** The part of the pipeline that a job needs. */
export interface Comparer {
  compare(input: {
    before: Uint8Array;
    after: Uint8Array;
    beforeKey?: string;
    afterKey?: string;
    model?: string | null;
    threshold?: number | null;
    signal?: AbortSignal;
  }): Promise<{ finding: Finding; heatmaps: HeatmapData | null; timings: Partial<TimingsMs> }>;
}

/** What became of a job. `skipped`: the comparison was final, cancelled or erased, so there was nothing to do or to keep. */
export type ComparisonOutcome =
  | { readonly kind: 'finished'; readonly comparison: Comparison }
  | { readonly kind: 'failed'; readonly error: ScenedeltaError }
  | { readonly kind: 'skipped'; readonly why: 'final' | 'cancelled' | 'erased' };

export interface ComparisonProcessor {
  /**
   * @param context.lastAttempt the queue will not try again, so that any error is final
   * @returns what became of it, saved; a failed one too.
   * @throws ScenedeltaError of a transient kind, with nothing saved but the frames: the queue should try again.
   */
  process(
    payload: unknown,
    context: { lastAttempt: boolean; signal: AbortSignal },
  ): Promise<ComparisonOutcome>;
  /** The queue gave the job up (a worker died on it too often): saves that, unless the comparison is final. */
  giveUp(comparisonId: string, error: ScenedeltaError): Promise<boolean>;
}

export interface ComparisonJobDependencies {
  readonly results: ResultStore;
  readonly blobs: BlobStore;
  readonly pipeline: Comparer;
  readonly fetchFrame: FetchFrame;
  /** What is painted on the frames of a camera, before anything reads them. */
  readonly cameras: Pick<CameraStore, 'maskOf'>;
  readonly enqueueDelivery: Pick<EnqueueDelivery, 'ofComparison'>;
  /** epoch ms */
  readonly clock: () => number;
  readonly logger: Logger;
}

export function createComparisonProcessor(deps: ComparisonJobDependencies): ComparisonProcessor {
  const { results, blobs, clock } = deps;
  const isoNow = () => new Date(clock()).toISOString();

  /** @returns false where another was first: cancelled, erased, or a second run of the same job. */
  const end = async (stored: StoredComparison, comparison: Comparison): Promise<boolean> => {
    if (!(await results.update(stored.comparison.id, { comparison }))) return false;
    const { id, status, verdict, error, timings_ms } = comparison;
    const told = {
      comparison: id,
      trace: stored.request.traceId,
      status,
      verdict,
      error: error?.type,
      ms: timings_ms?.total,
    };
    deps.logger.info(told, 'comparison ended');
    if (stored.request.callbackUrl !== null) {
      await deps.enqueueDelivery.ofComparison({ ...stored, comparison }).catch((err) => {
        deps.logger.error({ err, comparison: comparison.id }, 'delivery not queued; recovery will');
      });
    }
    return true;
  };

  const fail = async (stored: StoredComparison, error: ScenedeltaError): Promise<ComparisonOutcome> => {
    const comparison: Comparison = {
      ...stored.comparison,
      status: 'failed',
      finished_at: isoNow(),
      error: error.toProblem(),
    };
    return (await end(stored, comparison))
      ? { kind: 'failed', error }
      : skipped(await results.get(comparison.id));
  };

  const run = async (stored: StoredComparison, signal: AbortSignal): Promise<ComparisonOutcome> => {
    const { request } = stored;
    const startedAt = clock();
    assertInTime(request, startedAt);
    const running: Comparison = { ...stored.comparison, status: 'running' };
    if (!(await results.update(running.id, { comparison: running })))
      return skipped(await results.get(running.id));

    const { before, after } = await fetchBoth(deps, stored, signal);
    const fetchedAt = clock();
    if (stored.frames.before !== before.ref || stored.frames.after !== after.ref) {
      await results.update(running.id, {
        comparison: running,
        frames: { before: before.ref, after: after.ref },
      });
    }
    assertInTime(request, fetchedAt);

    const { finding, heatmaps, timings } = await compare(deps.pipeline, request, { before, after }, signal);
    const mapsKey = heatmapKey(running.id);
    if (heatmaps !== null) await blobs.put(mapsKey, encodeHeatmapData(heatmaps));

    const finished: Comparison = {
      ...running,
      ...finding,
      status: 'finished',
      finished_at: isoNow(),
      timings_ms: {
        ...NO_TIME,
        ...timings,
        queue: startedAt - request.acceptedAt,
        fetch: fetchedAt - startedAt,
        total: clock() - request.acceptedAt,
      },
    };
    if (await end(stored, finished)) return { kind: 'finished', comparison: finished };
    const now = await results.get(running.id);
    // Erased meanwhile: so must be what we wrote after. (Where a second run was first, the maps are its own.)
    if (now === undefined) await blobs.delete(mapsKey);
    return skipped(now);
  };

  return {
    async process(payload, { lastAttempt, signal }) {
      const job = parseJob(ComparisonJobSchema, payload);
      const stored = await results.get(job.comparisonId);
      if (stored === undefined || isFinal(stored.comparison.status)) return skipped(stored);
      try {
        return await run(stored, signal);
      } catch (thrown) {
        const now = signal.aborted ? await results.get(job.comparisonId) : stored;
        if (now === undefined || isFinal(now.comparison.status)) return skipped(now);
        const error = asScenedeltaError(thrown);
        if (!error.permanent && !lastAttempt) throw error;
        if (error.code === 'internal') {
          deps.logger.error({ err: thrown, comparison: job.comparisonId }, 'comparison failed unexpectedly');
        }
        return fail(stored, error);
      }
    },
    async giveUp(comparisonId, error) {
      const stored = await results.get(comparisonId);
      if (stored === undefined || isFinal(stored.comparison.status)) return false;
      return (await fail(stored, error)).kind === 'failed';
    },
  };
}

/** `fetch`, `queue` and `total` are measured here, the others by the pipeline. */
export const NO_TIME: TimingsMs = {
  queue: 0,
  fetch: 0,
  decode: 0,
  register: 0,
  encode: 0,
  caption: 0,
  heatmap: 0,
  total: 0,
};

export function skipped(stored: StoredComparison | undefined): ComparisonOutcome {
  if (stored === undefined) return { kind: 'skipped', why: 'erased' };
  return { kind: 'skipped', why: stored.comparison.status === 'cancelled' ? 'cancelled' : 'final' };
}

export function assertInTime({ deadline }: Pick<ComparisonRequest, 'deadline'>, now: number): void {
  if (deadline === null || now <= deadline) return;
  throw new ScenedeltaError(
    'deadline-exceeded',
    `the deadline ${new Date(deadline).toISOString()} had passed by ${now - deadline} ms before the model was asked`,
  );
}

async function fetchBoth(
  { fetchFrame, cameras }: ComparisonJobDependencies,
  { comparison, frames, request }: StoredComparison,
  signal: AbortSignal,
) {
  if (request.before === null) {
    throw new ScenedeltaError(
      'invalid-request',
      `${comparison.id} has no "before": it belongs to a camera's turn`,
      {
        field: 'before',
      },
    );
  }
  const mask = await cameras.maskOf(comparison.camera);
  const [before, after] = await Promise.all([
    fetchFrame(frames.before ?? request.before, { field: 'before', signal, mask }),
    fetchFrame(frames.after ?? request.after, { field: 'after', signal, mask }),
  ]);
  return { before, after };
}

async function compare(
  pipeline: Comparer,
  request: ComparisonRequest,
  frames: Record<Side, StoredFrame>,
  signal: AbortSignal,
) {
  signal.throwIfAborted();
  try {
    return await pipeline.compare({
      before: frames.before.bytes,
      after: frames.after.bytes,
      beforeKey: frames.before.ref.sha256,
      model: request.model,
      signal,
    });
  } catch (thrown) {
    const side = thrown instanceof ScenedeltaError ? thrown.field : undefined;
    const fromOutside = (side === 'before' || side === 'after') && request[side]?.from !== 'stored';
    throw fromOutside ? asUrlFailure(thrown) : thrown;
  }
}
