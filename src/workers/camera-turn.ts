/**
 * The job of a camera's turn: its earliest frame, from the queued reference to the step that saves everything at once.
 * It is independent of BullMQ; queue-workers.ts adapts it. stores/turns.ts defines who holds a turn.
 */
import { asScenedeltaError, ScenedeltaError } from '../errors.js';
import type { StoredFrame } from '../frames/keep.js';
import { encodeHeatmapData } from '../heatmaps/data.js';
import { parseJob, TurnJobSchema } from '../jobs/payloads.js';
import type { JobProducer } from '../jobs/producer.js';
import { unfetchedFrames } from '../jobs/unfetched.js';
import type { Logger } from '../logger.js';
import { type Comparison, isFinal } from '../schemas/comparison.js';
import { heatmapKey } from '../stores/blobs.js';
import { type CameraState, maskOf } from '../stores/cameras.js';
import type { StoredAlert } from '../stores/change-writes.js';
import type { ChangeStore } from '../stores/changes.js';
import type { ResultStore, StoredComparison } from '../stores/results.js';
import type { Turn, TurnStore } from '../stores/turns.js';
import { type FrameDependencies, initialCameraState, processFrame } from './camera-frame.js';
import type { FetchLimits } from './fetch-limits.js';
import {
  type Compared,
  type ComparisonOutcome,
  type Fetched,
  type LifeCycle,
  type Save,
  skipped,
} from './life-cycle.js';

/** The same number as COMPARISON_OPTIONS.attempts. */
const MAX_TRIES = 3;
/** After the first failed try; doubled with each. */
const BACKOFF_MS = 1_000;

/** Step of a turn that a job serves: a frame that is given by an address is fetched before it waits for a slot. */
export type TurnStage = 'fetch' | 'compare';

/**
 * idle: no frame waits, or another job is responsible. later: the queue should run this job again at `at` (epoch ms).
 * passed: the frame needs the other stage, for which a job has been queued.
 * worked: one frame was finished, failed or skipped; `more`: others wait, and a job for them has been queued.
 */
type TurnOutcome =
  | { readonly kind: 'idle' | 'passed' }
  | { readonly kind: 'later'; readonly at: number }
  | {
      readonly kind: 'worked';
      readonly camera: string;
      readonly outcome: ComparisonOutcome;
      readonly alerts: AlertCounts;
      readonly more: boolean;
    };

/** Alerts of one frame that its commit made final. */
export interface AlertCounts {
  readonly sent: number;
  readonly suppressed: number;
}

type Later = Extract<TurnOutcome, { kind: 'later' }>;
interface Passed {
  readonly kind: 'passed';
  readonly to: TurnStage;
}

export interface TurnDependencies extends FrameDependencies {
  readonly turns: TurnStore;
  readonly results: Pick<ResultStore, 'get'>;
  readonly changes: Pick<ChangeStore, 'cameraEvents'>;
  readonly lifeCycle: LifeCycle;
  readonly fetchLimits: FetchLimits;
  readonly queue: Pick<JobProducer, 'addTurn'>;
  /** how long a turn stays held after its holder has died */
  readonly holdMs: number;
  /** epoch ms */
  readonly clock: () => number;
  /** a new text at every call */
  readonly token: () => string;
  readonly logger: Logger;
}

export type TurnProcessor = Pick<ReturnType<typeof createTurnProcessor>, 'process'>;

export function createTurnProcessor(deps: TurnDependencies) {
  const { turns, results, blobs, clock, lifeCycle } = deps;

  const fetch = async (turn: Turn, stored: StoredComparison, signal: AbortSignal): Promise<Fetched> => {
    const { frames, request } = stored;
    const at = request.turn?.capturedAt ?? request.acceptedAt;
    const state = turn.state ?? initialCameraState();
    assertInOrder(state, at);
    const options = { field: 'frame', signal, mask: maskOf(turn.camera) };
    const frame = await deps.fetchFrame(frames.after ?? request.after, options);
    return {
      frames: { before: null, after: frame.ref },
      async compare() {
        const earlier = await sameFrame(state, at, frame.ref.sha256);
        return earlier === null ? compare(turn, stored, state, frame, at, signal) : repeat(earlier, at);
      },
    };
  };

  const compare = async (
    { camera }: Turn,
    { comparison: { id: comparisonId }, request: { traceId, apiKeyId } }: StoredComparison,
    state: CameraState,
    frame: StoredFrame,
    at: number,
    signal: AbortSignal,
  ): Promise<Compared> => {
    const events = await deps.changes.cameraEvents(camera.id);
    const processed = await processFrame({ camera, state, frame, at, signal, events, comparisonId }, deps);
    const { heatmaps, changes, suppressed } = processed;
    const url = camera.settings.alerts.callback_url;
    const alerts: readonly StoredAlert[] =
      url === null ? [] : processed.alerts.map((intent) => ({ intent, comparisonId, url, traceId, apiKeyId }));
    return {
      finding: { ...processed.finding, camera_frame: processed.cameraFrame },
      frames: { before: processed.before, after: frame.ref },
      heatmaps: heatmaps && encodeHeatmapData(heatmaps),
      timings: processed.timings,
      turn: {
        state: processed.state,
        changes: { camera: camera.id, changes, alerts, suppressed, eventsApplied: events.length },
      },
    };
  };

  /** @returns the comparison of the very same frame, if that was the camera's last one. */
  const sameFrame = async ({ last }: CameraState, at: number, sha256: string): Promise<StoredComparison | null> => {
    if (last === null || last.at !== at || last.sha256 !== sha256) return null;
    return (await results.get(last.comparison)) ?? null;
  };

  /** A frame that was sent twice has the finding of the first time, and changes nothing of the camera. */
  const repeat = async ({ comparison, frames }: StoredComparison, at: number): Promise<Compared> => ({
    finding: {
      ...findingOf(comparison),
      camera_frame: {
        captured_at: new Date(at).toISOString(),
        before: comparison.camera_frame?.before ?? null,
        notes: [{ code: 'duplicate', detail: `the same frame as in ${comparison.id}` }],
      },
    },
    frames,
    heatmaps: (comparison.model == null ? undefined : await blobs.get(heatmapKey(comparison.id))) ?? null,
    timings: {},
  });

  const work = async (
    turn: Turn,
    stage: TurnStage,
    signal: AbortSignal,
    onAlerts: (alerts: AlertCounts) => void,
  ): Promise<ComparisonOutcome | Later | Passed> => {
    const stored = await results.get(turn.comparisonId);
    if (stored === undefined || isFinal(stored.comparison.status)) return skipped(stored);
    const save: Save = async (ended, part) => {
      const saved = (await turns.commit(turn, { stored: ended, ...part })) === 'committed';
      const { alerts = [], suppressed = 0 } = part.changes ?? {};
      if (saved) onAlerts({ sent: alerts.length, suppressed });
      return saved;
    };
    if (turn.tries > MAX_TRIES) return lifeCycle.fail(stored, lostTooOften(turn.tries - 1), save);
    const attempt = { signal, last: turn.tries === MAX_TRIES, save };
    const needs: TurnStage = unfetchedFrames(stored).length > 0 ? 'fetch' : 'compare';
    if (needs !== stage) return { kind: 'passed', to: needs };
    if (stage === 'compare') return lifeCycle.run(stored, { ...attempt, fetch: () => fetch(turn, stored, signal) });

    const room = deps.fetchLimits.enter(stored);
    if ('laterAt' in room) return { kind: 'later', at: room.laterAt };
    try {
      const frames = async () => (await fetch(turn, stored, signal)).frames;
      const fetched = await lifeCycle.fetch(stored, { ...attempt, fetch: frames });
      return fetched.kind === 'fetched' ? { kind: 'passed', to: 'compare' } : fetched;
    } finally {
      room.leave();
    }
  };

  /** Holds the turn while `during` runs. */
  const holding = async <T>(turn: Turn, during: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const lost = new AbortController();
    const renewing = setInterval(() => {
      turns.renew(turn, deps.holdMs).then(
        (held) => {
          if (!held) lost.abort(new ScenedeltaError('cancelled', 'another worker has taken the turn over'));
        },
        (err) => deps.logger.warn({ err, camera_id: turn.camera.id }, 'turn not renewed'),
      );
    }, deps.holdMs / 4).unref();
    try {
      return await during(lost.signal);
    } finally {
      clearInterval(renewing);
    }
  };

  return {
    /**
     * @param context.job id of the queue's job, different from those of the other stage
     * @throws ScenedeltaError: transient if the stores are away, so that the queue tries again; permanent if the
     *   payload cannot be read.
     */
    async process(
      payload: unknown,
      { job, stage = 'compare' }: { job: string; stage?: TurnStage },
    ): Promise<TurnOutcome> {
      const { camera } = parseJob(TurnJobSchema, payload);
      const turn = await turns.take(camera, { job, token: deps.token(), ttlMs: deps.holdMs });
      if (turn === 'held' || turn === 'empty') return { kind: 'idle' };
      let outcome: Awaited<ReturnType<typeof work>>;
      let alerts: AlertCounts = { sent: 0, suppressed: 0 };
      try {
        outcome = await holding(turn, (signal) =>
          work(turn, stage, signal, (counts) => {
            alerts = counts;
          }),
        );
      } catch (thrown) {
        if (asScenedeltaError(thrown).permanent || turn.tries >= MAX_TRIES) throw thrown;
        const { comparisonId: comparison_id, tries } = turn;
        deps.logger.warn({ err: thrown, camera_id: camera, comparison_id, tries }, 'turn is tried again');
        // The turn stays held until this job continues it, or for some time longer if the job is lost.
        const wait = BACKOFF_MS * 2 ** (tries - 1);
        await turns.renew(turn, wait + deps.holdMs);
        return { kind: 'later', at: clock() + wait };
      }
      if (outcome.kind === 'later') {
        await turns.uncount(turn, 1);
        await turns.renew(turn, outcome.at - clock() + deps.holdMs);
        return outcome;
      }
      if (outcome.kind === 'passed') {
        // The tries of one stage do not count in the other.
        await turns.uncount(turn, turn.tries);
        if ((await turns.release(turn)) === 'more')
          await deps.queue.addTurn(camera, outcome.to === 'fetch' ? 'fetch' : 'live');
        return { kind: 'passed' };
      }
      // A skipped frame was not saved, so it may still be among the waiting ones.
      if (outcome.kind === 'skipped') await turns.drop(turn);
      const more = (await turns.release(turn)) === 'more';
      // A kill between the two steps loses nothing: this job has not ended, so the queue gives it to another worker.
      if (more) await deps.queue.addTurn(camera);
      return { kind: 'worked', camera, outcome, alerts, more };
    },
  };
}

const lostTooOften = (times: number): ScenedeltaError =>
  new ScenedeltaError('inference-failed', `the worker died ${times} times over this frame`);

function assertInOrder({ last }: CameraState, at: number): void {
  if (last === null || at >= last.at) return;
  const [captured, processed] = [at, last.at].map((time) => new Date(time).toISOString());
  throw new ScenedeltaError(
    'frame-out-of-order',
    `the frame was captured at ${captured}, but one of ${processed} has been worked on already: expected frames in the order of their time`,
    { field: 'captured_at' },
  );
}

/** @returns the finding without the bookkeeping of its comparison. */
const findingOf = (comparison: Comparison): Partial<Comparison> => {
  const { id, created_at, finished_at, status, metadata, heatmaps, frames, error, ...found } = comparison;
  return found;
};
