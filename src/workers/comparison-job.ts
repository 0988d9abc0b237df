/**
 * The job of one comparison, from its queued id to its saved result.
 * It is independent of BullMQ; queue-workers.ts adapts it.
 */
import { ScenedeltaError } from '../errors.js';
import { asUrlFailure, type FetchFrame } from '../frames/fetch.js';
import type { StoredFrame } from '../frames/keep.js';
import { encodeHeatmapData } from '../heatmaps/data.js';
import type { Side } from '../images.js';
import { ComparisonJobSchema, parseJob } from '../jobs/payloads.js';
import type { Comparer } from '../pipeline/pair.js';
import { isFinal } from '../schemas/comparison.js';
import type { CameraStore } from '../stores/cameras.js';
import type { ComparisonRequest, ResultStore, StoredComparison } from '../stores/results.js';
import type { FetchLimits } from './fetch-limits.js';
import {
  assertInTime,
  type Begin,
  type ComparisonOutcome,
  type Fetched,
  type FetchOutcome,
  type LifeCycle,
  type Save,
  skipped,
} from './life-cycle.js';

export interface ComparisonJobDependencies {
  readonly results: Pick<ResultStore, 'get' | 'update'>;
  readonly lifeCycle: LifeCycle;
  readonly pipeline: Comparer;
  readonly fetchFrame: FetchFrame;
  readonly fetchLimits: FetchLimits;
  /** gives the privacy mask to paint on the frames of a camera before anything reads them */
  readonly cameras: Pick<CameraStore, 'maskOf'>;
  /** epoch ms */
  readonly clock: () => number;
}

export type ComparisonProcessor = ReturnType<typeof createComparisonProcessor>;

export function createComparisonProcessor(deps: ComparisonJobDependencies) {
  const { results, lifeCycle } = deps;
  const save: Save = ({ comparison }) => results.update(comparison.id, { comparison });

  const fetch = async (stored: StoredComparison, signal: AbortSignal, begin: Begin): Promise<Fetched> => {
    await begin();
    const { comparison, frames, request } = stored;
    if (request.before === null) {
      throw new ScenedeltaError('invalid-request', `${comparison.id} has no "before": it belongs to a camera's turn`, {
        field: 'before',
      });
    }
    const mask = await deps.cameras.maskOf(comparison.camera);
    const [before, after] = await Promise.all([
      deps.fetchFrame(frames.before ?? request.before, { field: 'before', signal, mask }),
      deps.fetchFrame(frames.after ?? request.after, { field: 'after', signal, mask }),
    ]);
    const refs = { before: before.ref, after: after.ref };
    return {
      frames: refs,
      async compare() {
        assertInTime(request, deps.clock());
        const { heatmaps, ...compared } = await compare(deps.pipeline, request, { before, after }, signal);
        return { ...compared, frames: refs, heatmaps: heatmaps && encodeHeatmapData(heatmaps) };
      },
    };
  };

  return {
    /**
     * Fetches the frames that are given by an address, and stores them.
     * @param context.archive whether the comparison waits in the archive's queue next
     * @returns later: a limit on fetches is reached, so the queue should run the job again at `at` (epoch ms).
     * @throws ScenedeltaError as `process` does
     */
    async fetch(
      payload: unknown,
      { lastAttempt, signal, archive }: { lastAttempt: boolean; signal: AbortSignal; archive: boolean },
    ): Promise<FetchOutcome | { readonly kind: 'later'; readonly at: number }> {
      const { comparisonId } = parseJob(ComparisonJobSchema, payload);
      const stored = await results.get(comparisonId);
      if (stored === undefined || isFinal(stored.comparison.status)) return skipped(stored);
      const room = deps.fetchLimits.enter(stored, { archive });
      if ('laterAt' in room) return { kind: 'later', at: room.laterAt };
      try {
        const frames = async (begin: Begin) => (await fetch(stored, signal, begin)).frames;
        return await lifeCycle.fetch(stored, { signal, last: lastAttempt, fetch: frames, save });
      } finally {
        room.leave();
      }
    },
    /**
     * @param context.lastAttempt the queue will not try again, so that any error is final
     * @returns the outcome, saved, also of a failed comparison.
     * @throws ScenedeltaError: transient, with nothing saved but the frames, so that the queue tries again; or
     *   permanent, because the payload cannot be read.
     */
    async process(
      payload: unknown,
      { lastAttempt, signal }: { lastAttempt: boolean; signal: AbortSignal },
    ): Promise<ComparisonOutcome> {
      const { comparisonId } = parseJob(ComparisonJobSchema, payload);
      const stored = await results.get(comparisonId);
      if (stored === undefined || isFinal(stored.comparison.status)) return skipped(stored);
      return lifeCycle.run(stored, {
        signal,
        last: lastAttempt,
        fetch: (begin) => fetch(stored, signal, begin),
        save,
      });
    },
    /** Fails a comparison that the queue has given up, unless it is final. @returns whether it failed now. */
    async giveUp(comparisonId: string, error: ScenedeltaError): Promise<boolean> {
      const stored = await results.get(comparisonId);
      if (stored === undefined || isFinal(stored.comparison.status)) return false;
      return (await lifeCycle.fail(stored, error, save)).kind === 'failed';
    },
  };
}

async function compare(
  pipeline: Comparer,
  request: ComparisonRequest,
  { before, after }: Record<Side, StoredFrame>,
  signal: AbortSignal,
) {
  signal.throwIfAborted();
  try {
    return await pipeline.compare({
      before: before.bytes,
      after: after.bytes,
      beforeKey: before.ref.sha256,
      model: request.model,
      truth: request.truth ?? null,
      acceptCut: true,
      signal,
    });
  } catch (thrown) {
    const side = thrown instanceof ScenedeltaError ? thrown.field : undefined;
    const fromOutside = (side === 'before' || side === 'after') && request[side]?.from !== 'stored';
    throw fromOutside ? asUrlFailure(thrown) : thrown;
  }
}
