/**
 * The life cycle of a comparison under both kinds of job: begin, fetch, compare, then finish, fail or skip. Frames that
 * are given by an address are fetched in an attempt of its own, which ends before the comparison waits for a slot.
 */
import { asScenedeltaError, ScenedeltaError } from '../errors.js';
import type { Logger } from '../logger.js';
import { type Comparison, isFinal, type TimingsMs } from '../schemas/comparison.js';
import { type BlobStore, heatmapKey } from '../stores/blobs.js';
import type { ComparisonRequest, ResultStore, StoredComparison } from '../stores/results.js';
import type { TurnResult } from '../stores/turns.js';
import type { EnqueueDelivery } from './enqueue-delivery.js';

/** How a job ended. skipped: the comparison was final, cancelled or erased, so there was nothing to do or to keep. */
export type ComparisonOutcome =
  | { readonly kind: 'finished'; readonly comparison: Comparison }
  | { readonly kind: 'failed'; readonly error: ScenedeltaError }
  | Skipped;
interface Skipped {
  readonly kind: 'skipped';
  readonly why: 'final' | 'cancelled' | 'erased';
}

/** fetched: the frames are stored, and the comparison can be processed. */
export type FetchOutcome = ComparisonOutcome | { readonly kind: 'fetched' };

/** One attempt at a comparison: the steps that differ between a job of its own and a camera's turn. */
interface Attempt<F = Fetched> {
  readonly signal: AbortSignal;
  /** any error is final, because no further attempt follows */
  readonly last: boolean;
  fetch(): Promise<F>;
  readonly save: Save;
}
/** @returns false if nothing was saved: the comparison was final or erased, or this job has been replaced. */
export type Save = (ended: StoredComparison, turn: TurnPart) => Promise<boolean>;

export interface Fetched {
  readonly frames: StoredComparison['frames'];
  compare(): Promise<Compared>;
}
export interface Compared {
  readonly finding: Partial<Comparison>;
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
  readonly enqueueDelivery: EnqueueDelivery;
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
      ...(changes?.alerts ?? []).map((alert) => deps.enqueueDelivery.ofAlert(alert)),
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
    if (!(await by(ended, turn))) {
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

  const fail = async (stored: StoredComparison, error: ScenedeltaError, by: Save): Promise<ComparisonOutcome> => {
    const comparison = { ...stored.comparison, ...ending('failed'), error: error.toProblem() };
    return (await save({ ...stored, comparison }, by)) ?? { kind: 'failed', error };
  };

  /** @returns the running comparison, saved, or the reason to skip it */
  const begin = async ({ comparison, request }: StoredComparison, now: number) => {
    assertInTime(request, now);
    const running: Comparison = { ...comparison, status: 'running' };
    if (await results.update(comparison.id, { comparison: running })) return running;
    return skipped(await results.get(comparison.id));
  };

  /** Ends an attempt that threw: skipped if the comparison is final, failed if no further attempt can help. */
  const endFailed = async (
    stored: StoredComparison,
    { signal, last, save: by }: Attempt<unknown>,
    thrown: unknown,
  ): Promise<ComparisonOutcome> => {
    const now = signal.aborted ? await results.get(stored.comparison.id) : stored;
    if (now === undefined || isFinal(now.comparison.status)) return skipped(now);
    const error = asScenedeltaError(thrown);
    if (!error.permanent && !last) throw error;
    if (error.code === 'internal') {
      loggerOf(stored).error({ err: thrown }, 'comparison failed unexpectedly');
    }
    return fail(stored, error, by);
  };

  return {
    /**
     * Fetches the frames and saves where they are stored.
     * @throws ScenedeltaError as `run` does
     */
    async fetch(accepted: StoredComparison, attempt: Attempt<StoredComparison['frames']>): Promise<FetchOutcome> {
      const { id } = accepted.comparison;
      try {
        const startedAt = clock();
        const running = await begin(accepted, startedAt);
        if (!('id' in running)) return running;
        const frames = { ...(await attempt.fetch()), fetchMs: clock() - startedAt };
        const saved = await results.update(id, { comparison: running, frames });
        return saved ? { kind: 'fetched' } : skipped(await results.get(id));
      } catch (thrown) {
        return endFailed(accepted, attempt, thrown);
      }
    },
    /**
     * @returns how the comparison ended, saved.
     * @throws ScenedeltaError of a transient kind, unless the attempt is the last, with nothing saved but the frames:
     *   try again.
     */
    async run(accepted: StoredComparison, attempt: Attempt): Promise<ComparisonOutcome> {
      const { id } = accepted.comparison;
      const { request } = accepted;
      const { fetchMs = 0 } = accepted.frames;
      let stored = accepted;
      try {
        const startedAt = clock();
        const running = await begin(accepted, startedAt);
        if (!('id' in running)) return running;

        const { frames, compare } = await attempt.fetch();
        const fetchedAt = clock();
        if (stored.frames.before !== frames.before || stored.frames.after !== frames.after) {
          stored = { ...stored, frames: { ...stored.frames, ...frames } };
          await results.update(id, { comparison: running, frames: stored.frames });
        }

        const compared = await compare();
        if (compared.heatmaps !== null) await blobs.put(heatmapKey(id), compared.heatmaps);
        const comparison: Comparison = {
          ...running,
          ...compared.finding,
          ...ending('finished'),
          timings_ms: {
            ...NO_TIME,
            ...compared.timings,
            queue: startedAt - request.acceptedAt - fetchMs,
            fetch: fetchedAt - startedAt + fetchMs,
            total: clock() - request.acceptedAt,
          },
        };
        const ended = { ...stored, comparison, frames: compared.frames };
        return (await save(ended, attempt.save, compared.turn)) ?? { kind: 'finished', comparison };
      } catch (thrown) {
        return endFailed(stored, attempt, thrown);
      }
    },
    fail,
  };
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
