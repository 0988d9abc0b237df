/**
 * The job of one comparison, from its queued id to its saved result.
 * It is independent of BullMQ; queue-workers.ts adapts it.
 */
import { invalidRequest, ScenedeltaError } from '../base/errors.js';
import type { Side } from '../base/images.js';
import { countingIn } from '../camera/fold/fold.js';
import { matchWords } from '../camera/fold/step.js';
import type { StoredCamera } from '../camera/settings/camera.js';
import { asUrlFailure, type FetchFrame } from '../frames/fetch.js';
import type { StoredFrame } from '../frames/keep.js';
import { allSettledOrThrow } from '../frames/pair.js';
import { encodeHeatmapData } from '../heatmaps/data.js';
import { ComparisonJobSchema, parseJob } from '../jobs/payloads.js';
import type { Comparer, PairOutput } from '../pipeline/pair.js';
import { traced } from '../process/tracing.js';
import { isFinal } from '../schemas/finding.js';
import type { CameraStore } from '../stores/cameras/cameras.js';
import type { ComparisonRequest, ResultStore, StoredComparison } from '../stores/comparisons/results.js';
import type { FetchLimits } from './fetch-limits.js';
import {
  type Attempt,
  assertInTime,
  type Compared,
  type ComparisonOutcome,
  type FetchOutcome,
  type LifeCycle,
  type Save,
  skipped,
  spanOf,
  tracedAttempt,
} from './life-cycle.js';

export interface ComparisonJobDependencies {
  readonly results: Pick<ResultStore, 'get' | 'update'>;
  readonly lifeCycle: LifeCycle;
  readonly pipeline: Comparer;
  readonly fetchFrame: FetchFrame;
  readonly fetchLimits: FetchLimits;
  /** gives the privacy mask to paint on the frames of a camera before anything reads them */
  readonly cameras: Pick<CameraStore, 'maskOf' | 'get'>;
  /** epoch ms */
  readonly clock: () => number;
}

export type ComparisonProcessor = ReturnType<typeof createComparisonProcessor>;

export function createComparisonProcessor(deps: ComparisonJobDependencies) {
  const { results, lifeCycle } = deps;
  const save: Save = ({ comparison }) => results.update(comparison.id, { comparison });

  const fetch = async (
    { comparison, frames, request }: StoredComparison,
    signal: AbortSignal,
  ): Promise<Record<Side, StoredFrame>> => {
    if (request.before === null) {
      throw invalidRequest(`${comparison.id} has one picture: it belongs to a camera's turn`, 'before');
    }
    const mask = await deps.cameras.maskOf(comparison.camera);
    const [before, after] = await Promise.all([
      deps.fetchFrame(frames.before ?? request.before, { field: 'before', signal, mask }),
      deps.fetchFrame(frames.after ?? request.after, { field: 'after', signal, mask }),
    ]);
    return { before, after };
  };

  const fetchOnly = async (attempt: Attempt): Promise<FetchOutcome> => {
    const { stored, startedAt, signal } = attempt;
    try {
      assertInTime(stored.request, startedAt);
      await lifeCycle.begin(attempt);
      const frames = await traced('fetch frames', () => fetch(stored, signal), spanOf(stored));
      await lifeCycle.fetched(attempt, { ...refsOf(frames), fetchMs: deps.clock() - startedAt });
      return { kind: 'fetched' };
    } catch (thrown) {
      return lifeCycle.fail(attempt, thrown);
    }
  };

  const run = async (begun: Attempt): Promise<ComparisonOutcome> => {
    let attempt = begun;
    const { stored, startedAt, signal } = begun;
    const work = async (): Promise<Compared> => {
      const frames = await traced('read frames', () => fetch(stored, signal));
      attempt = await lifeCycle.fetched(attempt, refsOf(frames));
      assertInTime(stored.request, deps.clock());
      const { byCamera } = stored.request;
      const camera = byCamera === true ? await deps.cameras.get(stored.comparison.camera ?? '') : undefined;
      const pair = await compare(deps.pipeline, stored.request, frames, { camera, signal });
      const { heatmaps, ...compared } = camera === undefined ? pair : countingOf(pair, camera);
      return { ...compared, frames: refsOf(frames), heatmaps: heatmaps && encodeHeatmapData(heatmaps) };
    };
    try {
      assertInTime(stored.request, startedAt);
      // The work does not wait for the disk of Redis: that it has begun is noted before its end.
      const [, compared] = await allSettledOrThrow(lifeCycle.begin(begun), work());
      return await lifeCycle.finish(attempt, compared);
    } catch (thrown) {
      return lifeCycle.fail(attempt, thrown);
    }
  };

  const attemptOf = (stored: StoredComparison, last: boolean, signal: AbortSignal): Attempt => ({
    stored,
    startedAt: deps.clock(),
    signal,
    last,
    save,
  });

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
        return await fetchOnly(attemptOf(stored, lastAttempt, signal));
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
      return tracedAttempt(stored, deps.clock(), () => run(attemptOf(stored, lastAttempt, signal)));
    },
    /** Fails a comparison that the queue has given up, unless it is final. @returns whether it failed now. */
    async giveUp(comparisonId: string, error: ScenedeltaError): Promise<boolean> {
      const stored = await results.get(comparisonId);
      if (stored === undefined || isFinal(stored.comparison.status)) return false;
      return (await lifeCycle.giveUp(stored, error, save)).kind === 'failed';
    },
  };
}

const refsOf = ({ before, after }: Record<Side, StoredFrame>) => ({ before: before.ref, after: after.ref });

/** The part of an answer that counts by the zones and areas of its camera. */
function countingOf(pair: PairOutput, { settings }: StoredCamera): PairOutput {
  const counting = countingIn(
    pair.finding,
    pair.finding.words.map((_word, i) => i),
    settings,
  );
  return { ...pair, finding: counting.finding, heatmaps: matchWords(pair.heatmaps, counting) };
}

async function compare(
  pipeline: Comparer,
  request: ComparisonRequest,
  { before, after }: Record<Side, StoredFrame>,
  { camera, signal }: { readonly camera: StoredCamera | undefined; readonly signal: AbortSignal },
) {
  signal.throwIfAborted();
  try {
    return await pipeline.compare({
      before: before.bytes,
      after: after.bytes,
      beforeKey: before.ref.sha256,
      model: request.model,
      truth: request.truth ?? null,
      secondsApart: request.secondsApart ?? null,
      ...(camera === undefined ? {} : { threshold: camera.settings.threshold, statements: true }),
      signal,
    });
  } catch (thrown) {
    const side = thrown instanceof ScenedeltaError ? thrown.field : undefined;
    const fromOutside = (side === 'before' || side === 'after') && request[side]?.from !== 'stored';
    throw fromOutside ? asUrlFailure(thrown) : thrown;
  }
}
