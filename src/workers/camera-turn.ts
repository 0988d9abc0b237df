/**
 * A camera's turn: its earliest frame, from the queued reference to the step that saves everything at once. Knows nothing of BullMQ:
 * queue-workers.ts adapts. stores/turns.ts says who holds a turn, and why a job that finds it held may end.
 */

import { asScenedeltaError, ScenedeltaError } from '../errors.js';
import { encodeHeatmapData } from '../heatmaps/data.js';
import { parseJob, TurnJobSchema } from '../jobs/payloads.js';
import type { JobProducer } from '../jobs/producer.js';
import type { Logger } from '../logger.js';
import type { CameraFrame, Comparison } from '../schemas/comparison.js';
import { isFinal } from '../schemas/comparison.js';
import { heatmapKey } from '../stores/blobs.js';
import { type CameraState, maskOf } from '../stores/cameras.js';
import type { StoredAlert } from '../stores/change-writes.js';
import type { ChangeStore } from '../stores/changes.js';
import type { ResultStore, StoredComparison } from '../stores/results.js';
import type { Turn, TurnResult, TurnStore } from '../stores/turns.js';
import { type FrameDependencies, initialCameraState, processFrame } from './camera-frame.js';
import { assertInTime, type ComparisonOutcome, NO_TIME, skipped } from './comparison-job.js';
import type { EnqueueDelivery } from './enqueue-delivery.js';

/** As many as a comparison of a job of its own has. */
const MAX_TRIES = 3;
/** After the first try that failed; doubled with each. */
const BACKOFF_MS = 1_000;

/**
 * idle: no frame waits, or another job sees to it. later: the queue should run this job again at `at` (epoch ms). worked: one frame
 * was taken to its end, or passed over; `more`: others wait, and a job for them has been made.
 */
export type TurnOutcome =
  | { readonly kind: 'idle' }
  | { readonly kind: 'later'; readonly at: number }
  | { readonly kind: 'worked'; readonly outcome: ComparisonOutcome; readonly more: boolean };

export interface TurnProcessor {
  /** @param context.job id of the queue's job. @throws ScenedeltaError only where the stores are away: the queue should try again. */
  process(payload: unknown, context: { job: string }): Promise<TurnOutcome>;
}

export interface TurnDependencies extends FrameDependencies {
  readonly turns: TurnStore;
  readonly results: ResultStore;
  readonly changes: Pick<ChangeStore, 'cameraEvents'>;
  readonly enqueueDelivery: EnqueueDelivery;
  readonly queue: Pick<JobProducer, 'addTurn'>;
  /** how long a turn whose holder has gone stays held */
  readonly holdMs: number;
  /** epoch ms */
  readonly clock: () => number;
  /** another text at every call */
  readonly token: () => string;
  readonly logger: Logger;
}

export function createTurnProcessor(deps: TurnDependencies): TurnProcessor {
  const { turns, results, blobs, changes, clock } = deps;

  const commit = async (turn: Turn, outcome: TurnResult): Promise<boolean> => {
    const committed = await turns.commit(turn, outcome);
    const { comparison, request } = outcome.stored;
    const { id, status, verdict, error, timings_ms } = comparison;
    const told = { comparison: id, camera: turn.camera.id, trace: request.traceId, status, verdict };
    deps.logger.info(
      { ...told, error: error?.type, ms: timings_ms?.total, committed },
      "camera's turn ended",
    );
    return committed === 'committed';
  };

  /** Whatever it throws is logged, and recovery tells later. */
  const announce = async (stored: StoredComparison, alerts: readonly StoredAlert[]): Promise<void> => {
    const told = [
      ...(stored.request.callbackUrl === null ? [] : [deps.enqueueDelivery.ofComparison(stored)]),
      ...alerts.map((alert) => deps.enqueueDelivery.ofAlert(alert)),
    ];
    for (const outcome of await Promise.allSettled(told)) {
      if (outcome.status === 'fulfilled') continue;
      deps.logger.error(
        { err: outcome.reason, comparison: stored.comparison.id },
        'delivery not queued; recovery will',
      );
    }
  };

  const finish = async (
    turn: Turn,
    stored: StoredComparison,
    outcome: Omit<TurnResult, 'stored'> = {},
    alerts: readonly StoredAlert[] = [],
  ): Promise<boolean> => {
    if (!(await commit(turn, { stored, ...outcome }))) return false;
    await announce(stored, alerts);
    return true;
  };

  const fail = async (
    turn: Turn,
    stored: StoredComparison,
    error: ScenedeltaError,
  ): Promise<ComparisonOutcome> => {
    const comparison: Comparison = {
      ...stored.comparison,
      status: 'failed',
      finished_at: new Date(clock()).toISOString(),
      error: error.toProblem(),
    };
    return (await finish(turn, { ...stored, comparison }))
      ? { kind: 'failed', error }
      : skipped(await results.get(comparison.id));
  };

  const work = async (
    turn: Turn,
    stored: StoredComparison,
    signal: AbortSignal,
  ): Promise<ComparisonOutcome> => {
    const { camera } = turn;
    const { request } = stored;
    const startedAt = clock();
    assertInTime(request, startedAt);
    const running: Comparison = { ...stored.comparison, status: 'running' };
    if (!(await results.update(running.id, { comparison: running }))) {
      await turns.drop(turn);
      return skipped(await results.get(running.id));
    }
    const at = request.turn?.capturedAt ?? request.acceptedAt;
    const state = turn.state ?? initialCameraState();
    assertInOrder(state, at);

    const mask = maskOf(camera);
    const frame = await deps.fetchFrame(stored.frames.after ?? request.after, {
      field: 'frame',
      signal,
      mask,
    });
    const fetchedAt = clock();
    const timings = () => ({
      queue: startedAt - request.acceptedAt,
      fetch: fetchedAt - startedAt,
      total: clock() - request.acceptedAt,
    });
    const end = (found: Partial<Comparison>): Comparison => ({
      ...running,
      ...found,
      status: 'finished',
      finished_at: new Date(clock()).toISOString(),
    });

    const earlier = await sameFrame(state, at, frame.ref.sha256);
    if (earlier !== null) {
      const { comparison: again, frames } = earlier;
      const notes: CameraFrame['notes'] = [{ code: 'duplicate', detail: `the same frame as in ${again.id}` }];
      const comparison = end({
        ...findingOf(again),
        camera_frame: {
          captured_at: new Date(at).toISOString(),
          before: again.camera_frame?.before ?? null,
          notes,
        },
        timings_ms: { ...NO_TIME, ...timings() },
      });
      const maps = again.model == null ? undefined : await blobs.get(heatmapKey(again.id));
      if (maps !== undefined) await blobs.put(heatmapKey(comparison.id), maps);
      return (await finish(turn, { ...stored, frames, comparison }))
        ? { kind: 'finished', comparison }
        : skipped(await results.get(comparison.id));
    }

    const events = await changes.cameraEvents(camera.id);
    const worked = await processFrame(
      { camera, state, frame, at, signal, events, comparisonId: running.id },
      deps,
    );
    const mapsKey = heatmapKey(running.id);
    if (worked.heatmaps !== null) await blobs.put(mapsKey, encodeHeatmapData(worked.heatmaps));
    const comparison = end({
      ...worked.finding,
      camera_frame: worked.cameraFrame,
      timings_ms: { ...NO_TIME, ...worked.timings, ...timings() },
    });
    const url = camera.settings.alerts.callback_url;
    const alerts: StoredAlert[] = worked.alerts.flatMap((intent) =>
      url === null
        ? []
        : [{ intent, comparisonId: running.id, url, traceId: request.traceId, apiKeyId: request.apiKeyId }],
    );
    const found = { camera: camera.id, changes: worked.changes, alerts, eventsApplied: events.length };
    const ended = { ...stored, comparison, frames: { before: worked.before, after: frame.ref } };
    if (await finish(turn, ended, { state: worked.state, changes: found }, alerts))
      return { kind: 'finished', comparison };
    const now = await results.get(running.id);
    // Erased meanwhile: so must be what we wrote after.
    if (now === undefined) await blobs.delete(mapsKey);
    return skipped(now);
  };

  /** @returns the comparison of the very same frame, where that was the last one. */
  const sameFrame = async (
    state: CameraState,
    at: number,
    sha256: string,
  ): Promise<StoredComparison | null> => {
    if (state.last === null || state.last.at !== at || state.last.sha256 !== sha256) return null;
    return (await results.get(state.last.comparison)) ?? null;
  };

  const workOn = async (turn: Turn, signal: AbortSignal): Promise<ComparisonOutcome | { later: number }> => {
    const stored = await results.get(turn.comparisonId);
    if (stored === undefined || isFinal(stored.comparison.status)) {
      await turns.drop(turn);
      return skipped(stored);
    }
    if (turn.tries > MAX_TRIES) return fail(turn, stored, lostTooOften(turn.tries - 1));
    try {
      return await work(turn, stored, signal);
    } catch (thrown) {
      const error = asScenedeltaError(thrown);
      if (!error.permanent && turn.tries < MAX_TRIES) {
        deps.logger.warn(
          { err: thrown, comparison: turn.comparisonId, tries: turn.tries },
          'turn is tried again',
        );
        return { later: BACKOFF_MS * 2 ** (turn.tries - 1) };
      }
      if (error.code === 'internal') {
        deps.logger.error({ err: thrown, comparison: turn.comparisonId }, 'comparison failed unexpectedly');
      }
      return fail(turn, stored, error);
    }
  };

  /** Holds the turn for as long as `during` runs. */
  const holding = async <T>(turn: Turn, during: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const lost = new AbortController();
    const renewing = setInterval(() => {
      turns.renew(turn, deps.holdMs).then(
        (held) => {
          if (!held) lost.abort(new ScenedeltaError('cancelled', 'another worker has taken the turn over'));
        },
        (err) => deps.logger.warn({ err, camera: turn.camera.id }, 'turn not renewed'),
      );
    }, deps.holdMs / 4).unref();
    try {
      return await during(lost.signal);
    } finally {
      clearInterval(renewing);
    }
  };

  return {
    async process(payload, { job }) {
      const { camera } = parseJob(TurnJobSchema, payload);
      const turn = await turns.take(camera, { job, token: deps.token(), ttlMs: deps.holdMs });
      if (turn === 'held' || turn === 'empty') return { kind: 'idle' };
      const outcome = await holding(turn, (signal) => workOn(turn, signal));
      if ('later' in outcome) {
        // It stays held until this job goes on with it, or, should the job be lost, some time after.
        await turns.renew(turn, outcome.later + deps.holdMs);
        return { kind: 'later', at: clock() + outcome.later };
      }
      const more = (await turns.release(turn)) === 'more';
      // A kill in between is no loss: this job has not ended, so the queue gives it to another worker.
      if (more) await deps.queue.addTurn(camera);
      return { kind: 'worked', outcome, more };
    },
  };
}

const lostTooOften = (times: number): ScenedeltaError =>
  new ScenedeltaError('inference-failed', `the worker died ${times} times over this frame`);

function assertInOrder({ last }: CameraState, at: number): void {
  if (last === null || at >= last.at) return;
  throw new ScenedeltaError(
    'frame-out-of-order',
    `the frame was captured at ${new Date(at).toISOString()}, but one of ${new Date(last.at).toISOString()} has been worked on already: expected frames in the order of their time`,
    { field: 'captured_at' },
  );
}

/** What was said of the same frame before. */
const findingOf = (comparison: Comparison): Partial<Comparison> => {
  const { id, created_at, finished_at, status, metadata, heatmaps, frames, error, ...found } = comparison;
  return found;
};
