/**
 * The life cycle of a comparison: `begin`, `fetched`, and `finish` or `fail`, which both kinds of job call in turn.
 * Frames that are given by an address are fetched in an attempt of its own, which ends before the comparison waits for
 * a slot.
 */
import { type BlobStore, heatmapKey } from '../base/blobs.js';
import { asScenedeltaError, isStoreRefusal, ScenedeltaError } from '../base/errors.js';
import type { EnqueueDelivery } from '../jobs/enqueue-delivery.js';
import type { Logger } from '../process/logger.js';
import { addSpan, type Span, type SpanOptions, traced } from '../process/tracing.js';
import type { ComparisonRecord, TimingsMs } from '../schemas/comparison.js';
import { isFinal } from '../schemas/finding.js';
import type { TurnResult } from '../stores/cameras/turns.js';
import type { ComparisonRequest, ResultStore, StoredComparison } from '../stores/comparisons/results.js';

/** How a job ended. skipped: the comparison was final, cancelled or erased, so there was nothing to do or to keep. */
export type ComparisonOutcome =
  | { readonly kind: 'finished'; readonly comparison: ComparisonRecord }
  | { readonly kind: 'failed'; readonly error: ScenedeltaError }
  | Skipped;
interface Skipped {
  readonly kind: 'skipped';
  readonly why: 'final' | 'cancelled' | 'erased';
}

/** fetched: the frames are stored, and the comparison can be processed. */
export type FetchOutcome = ComparisonOutcome | { readonly kind: 'fetched' };

export interface Attempt {
  /** as it is saved */
  readonly stored: StoredComparison;
  /** epoch ms */
  readonly startedAt: number;
  /** when the frames were there, epoch ms; absent: they are not yet */
  readonly fetchedAt?: number;
  readonly signal: AbortSignal;
  /** any error is final, because no further attempt follows */
  readonly last: boolean;
  readonly save: Save;
}
class Superseded extends Error {}

/** @returns false if nothing was saved: the comparison was final or erased, or this job has been replaced. */
export type Save = (ended: StoredComparison, turn: TurnPart) => Promise<boolean>;

export interface Compared {
  readonly finding: Partial<ComparisonRecord>;
  readonly frames: StoredComparison['frames'];
  /** encoded heatmaps; null: none */
  readonly heatmaps: Uint8Array | null;
  readonly timings: Partial<TimingsMs>;
  /** state and changes that a camera's turn saves in the same step */
  readonly turn?: TurnPart;
}
type TurnPart = Omit<TurnResult, 'stored'>;

export interface LifeCycleDependencies {
  readonly results: Pick<ResultStore, 'get' | 'update'>;
  readonly blobs: Pick<BlobStore, 'put' | 'delete'>;
  readonly enqueueDelivery: Pick<EnqueueDelivery, 'ofComparison' | 'ofAlert'>;
  /** epoch ms */
  readonly clock: () => number;
  readonly logger: Logger;
}

export type LifeCycle = ReturnType<typeof createLifeCycle>;

export function createLifeCycle(deps: LifeCycleDependencies) {
  const { results, blobs, clock } = deps;

  const loggerOf = ({ comparison, request }: StoredComparison): Logger =>
    deps.logger.child({
      comparison_id: comparison.id,
      trace_id: request.traceId,
      ...(comparison.camera === null ? {} : { camera_id: comparison.camera }),
    });

  const enqueueDeliveries = async (ended: StoredComparison, { changes }: TurnPart): Promise<void> => {
    const deliveries = [
      deps.enqueueDelivery.ofComparison(ended),
      ...[...(changes?.alerts ?? []), ...(changes?.messages ?? [])].map((alert) => deps.enqueueDelivery.ofAlert(alert)),
    ];
    for (const delivery of await Promise.allSettled(deliveries)) {
      if (delivery.status === 'fulfilled') continue;
      loggerOf(ended).error({ err: delivery.reason }, 'delivery not queued; recovery will queue it');
    }
  };

  /**
   * Saves an ended comparison and queues its deliveries.
   * @returns undefined if it was saved, else the reason to skip it.
   */
  const save = async (ended: StoredComparison, by: Save, turn: TurnPart = {}): Promise<Skipped | undefined> => {
    const { id, status, verdict, error, timings_ms } = ended.comparison;
    if (!(await traced('store result', () => by(ended, turn)))) {
      const now = await results.get(id);
      // If it was erased meanwhile, the heatmaps written after that must go too. If another run was first, they are its
      // own.
      if (now === undefined) await blobs.delete(heatmapKey(id));
      return skipped(now);
    }
    loggerOf(ended).info({ status, verdict, error: error?.type, ms: timings_ms?.total }, 'comparison ended');
    await enqueueDeliveries(ended, turn);
    return undefined;
  };

  const ending = <S extends 'finished' | 'failed'>(status: S) => ({
    status,
    finished_at: new Date(clock()).toISOString(),
  });
  const running = ({ stored }: Attempt): ComparisonRecord => ({ ...stored.comparison, status: 'running' });

  const giveUp = async (stored: StoredComparison, error: ScenedeltaError, by: Save): Promise<ComparisonOutcome> => {
    const comparison = { ...stored.comparison, ...ending('failed'), error: error.toProblem() };
    return (await save({ ...stored, comparison }, by)) ?? { kind: 'failed', error };
  };

  return {
    /**
     * Marks the comparison as running, before the work that takes long. A camera's frame that needs none ends without.
     * @throws Superseded if the comparison is final or erased: `fail` makes a skip of it
     */
    async begin(attempt: Attempt): Promise<void> {
      const { id } = attempt.stored.comparison;
      if (!(await results.update(id, { comparison: running(attempt) }))) throw new Superseded();
    },
    /** Saves where the frames are stored, if that is new. @returns the attempt with them @throws as `begin` */
    async fetched(attempt: Attempt, frames: StoredComparison['frames']): Promise<Attempt> {
      const { stored } = attempt;
      const now = { ...attempt, fetchedAt: clock() };
      if (stored.frames.before === frames.before && stored.frames.after === frames.after) return now;
      const update = { comparison: running(attempt), frames: { ...stored.frames, ...frames } };
      if (!(await results.update(stored.comparison.id, update))) throw new Superseded();
      return { ...now, stored: { ...stored, frames: update.frames } };
    },
    /** @returns how the comparison ended, saved */
    async finish(attempt: Attempt, compared: Compared): Promise<ComparisonOutcome> {
      const { stored, startedAt, fetchedAt = startedAt } = attempt;
      const { id } = stored.comparison;
      const { acceptedAt } = stored.request;
      const { fetchMs = 0 } = stored.frames;
      const { heatmaps } = compared;
      if (heatmaps !== null) await traced('store heatmaps', () => blobs.put(heatmapKey(id), heatmaps));
      const comparison: ComparisonRecord = {
        ...running(attempt),
        ...compared.finding,
        ...ending('finished'),
        timings_ms: {
          ...NO_TIME,
          ...compared.timings,
          queue: startedAt - acceptedAt - fetchMs,
          fetch: fetchedAt - startedAt + fetchMs,
          total: clock() - acceptedAt,
        },
      };
      const ended = { ...stored, comparison, frames: compared.frames };
      return (await save(ended, attempt.save, compared.turn)) ?? { kind: 'finished', comparison };
    },
    /**
     * Ends an attempt that threw: skipped if the comparison is final, failed if no further attempt can help.
     * @throws ScenedeltaError of a transient kind, unless the attempt is the last, with nothing saved but the frames:
     *   try again.
     */
    async fail({ stored, signal, last, save: by }: Attempt, thrown: unknown): Promise<ComparisonOutcome> {
      const isOutdated = signal.aborted || thrown instanceof Superseded;
      const now = isOutdated ? await results.get(stored.comparison.id) : stored;
      if (now === undefined || isFinal(now.comparison.status)) return skipped(now);
      const error = asScenedeltaError(thrown);
      if (isStoreRefusal(error) || (!error.permanent && !last)) throw error;
      if (error.code === 'internal') {
        loggerOf(stored).error({ err: thrown }, 'comparison failed unexpectedly');
      }
      return giveUp(stored, error, by);
    },
    /** Fails a comparison without an attempt. */
    giveUp,
  };
}

/** Runs an attempt within its span, which begins with the wait in the queue. @param now epoch ms */
export function tracedAttempt(
  stored: StoredComparison,
  now: number,
  run: () => Promise<ComparisonOutcome>,
): Promise<ComparisonOutcome> {
  const { request, frames } = stored;
  if (request.traceparent !== undefined) {
    const from = request.acceptedAt + (frames.fetchMs ?? 0);
    addSpan('wait in the queue', { ...spanOf(stored), from }, now);
  }
  const labelled = async (span: Span) => {
    const outcome = await run();
    span.set({ 'scenedelta.outcome': labelOf(outcome) });
    return outcome;
  };
  return traced('compare', labelled, { ...spanOf(stored), kind: 'consumer' });
}

/** Its spans belong to that of the request; without one they begin a trace. */
export const spanOf = ({ comparison, request }: StoredComparison): SpanOptions => ({
  parent: request.traceparent,
  traceId: request.traceId,
  attributes: {
    'scenedelta.comparison_id': comparison.id,
    ...(comparison.camera === null ? {} : { 'scenedelta.camera_id': comparison.camera }),
  },
});

/** Verdict, error code or reason to skip, for metrics and spans. */
export function labelOf(outcome: ComparisonOutcome): string {
  if (outcome.kind === 'finished') return outcome.comparison.verdict ?? 'unknown';
  return outcome.kind === 'failed' ? outcome.error.code : outcome.why;
}

/** `queue`, `fetch` and `total` are measured by the life cycle, the others by the pipeline. */
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

export function skipped(stored: StoredComparison | undefined): Skipped {
  if (stored === undefined) return { kind: 'skipped', why: 'erased' };
  return { kind: 'skipped', why: stored.comparison.status === 'cancelled' ? 'cancelled' : 'final' };
}

/** @throws ScenedeltaError 'deadline-exceeded' */
export function assertInTime({ deadline }: Pick<ComparisonRequest, 'deadline'>, now: number): void {
  if (deadline === null || now <= deadline) return;
  throw new ScenedeltaError(
    'deadline-exceeded',
    `the deadline ${new Date(deadline).toISOString()} had passed by ${now - deadline} ms before the model was asked`,
  );
}
