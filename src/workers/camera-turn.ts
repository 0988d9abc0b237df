/**
 * The job of a camera's turn: its waiting frames in the order of their time, each from the queued reference to the step
 * that saves everything at once. It is independent of BullMQ; queue-workers.ts adapts it. stores/cameras/turns.ts
 * defines who holds a turn.
 */
import { asScenedeltaError, isStoreRefusal, ScenedeltaError } from '../base/errors.js';
import { assertNotQuarantined, type JobGuard } from '../jobs/job-guard.js';
import { parseJob, TurnJobSchema } from '../jobs/payloads.js';
import type { JobProducer } from '../jobs/producer.js';
import { unfetchedFrames } from '../jobs/unfetched.js';
import type { Logger } from '../process/logger.js';
import { traced } from '../process/tracing.js';
import { isFinal } from '../schemas/finding.js';
import type { CommitResult, Turn, TurnStore } from '../stores/cameras/turns.js';
import { type CameraFrameDependencies, compareFrame, type FrameOfTurn, fetchFrame } from './camera-frame.js';
import type { FetchLimits } from './fetch-limits.js';
import {
  type Attempt,
  assertInTime,
  type ComparisonOutcome,
  type FetchOutcome,
  type LifeCycle,
  type Save,
  skipped,
  spanOf,
  tracedAttempt,
} from './life-cycle.js';

/** The same number as COMPARISON_OPTIONS.attempts. */
const MAX_TRIES = 3;
/** After the first failed try; doubled with each. */
const BACKOFF_MS = 1_000;
/**
 * A job takes the turn again while frames wait, until it has run for so long; then it makes room for other cameras.
 * Several quiet frames fit, and one that needs the model.
 */
const JOB_MS = 100;

/** Step of a turn that a job serves: a frame that is given by an address is fetched before it waits for a slot. */
export type TurnStage = 'fetch' | 'compare';

/**
 * idle: no frame waits, or another job is responsible. later: the queue should run this job again at `at` (epoch ms).
 * passed: the frame needs the other stage, for which a job has been queued.
 * worked: the waiting frames were finished, failed or skipped; `more`: others wait, and a job for them has been queued.
 */
type TurnOutcome =
  | { readonly kind: 'idle' | 'passed' }
  | { readonly kind: 'later'; readonly at: number }
  | { readonly kind: 'worked'; readonly more: boolean };

/** A frame that was finished, failed or skipped. */
export interface WorkedFrame {
  readonly camera: string;
  readonly outcome: ComparisonOutcome;
  /** number of alerts that its commit made final */
  readonly alerts: { readonly sent: number; readonly suppressed: number };
}

type Later = Extract<TurnOutcome, { kind: 'later' }>;
interface Passed {
  readonly kind: 'passed';
  readonly to: TurnStage;
}
interface Worked {
  readonly kind: 'worked';
  readonly frame: WorkedFrame;
  /** frames wait, and the turn is still held */
  readonly more: boolean;
}

export interface TurnDependencies extends CameraFrameDependencies {
  readonly turns: TurnStore;
  readonly lifeCycle: LifeCycle;
  readonly fetchLimits: FetchLimits;
  readonly queue: Pick<JobProducer, 'addTurn'>;
  /** how long a turn stays held after its holder has died */
  readonly holdMs: number;
  /** epoch ms */
  readonly clock: () => number;
  /** a new text at every call */
  readonly token: () => string;
  /** name of this process (stores/redis/runs.ts) */
  readonly worker: string;
  readonly guard: Pick<JobGuard, 'beside' | 'alone'>;
  readonly logger: Logger;
}

export type TurnProcessor = Pick<ReturnType<typeof createTurnProcessor>, 'process'>;

export function createTurnProcessor(deps: TurnDependencies) {
  const { turns, clock, lifeCycle } = deps;

  const fetchOnly = async (attempt: Attempt, frame: FrameOfTurn): Promise<FetchOutcome> => {
    try {
      assertInTime(frame.stored.request, attempt.startedAt);
      await lifeCycle.begin(attempt);
      const { ref } = await traced('fetch frames', () => fetchFrame(frame, deps), spanOf(frame.stored));
      const fetchMs = clock() - attempt.startedAt;
      await lifeCycle.fetched(attempt, { before: null, after: ref, fetchMs });
      return { kind: 'fetched' };
    } catch (thrown) {
      return lifeCycle.fail(attempt, thrown);
    }
  };

  const run = async (begun: Attempt, frame: FrameOfTurn): Promise<ComparisonOutcome> => {
    let attempt = begun;
    try {
      assertInTime(frame.stored.request, attempt.startedAt);
      const fetched = await traced('read frames', () => fetchFrame(frame, deps));
      attempt = await lifeCycle.fetched(attempt, { before: null, after: fetched.ref });
      const compared = await compareFrame(frame, fetched, () => lifeCycle.begin(attempt), deps);
      return await lifeCycle.finish(attempt, compared);
    } catch (thrown) {
      return lifeCycle.fail(attempt, thrown);
    }
  };

  const work = async (turn: Turn, stage: TurnStage, signal: AbortSignal): Promise<Worked | Later | Passed> => {
    const { camera, stored } = turn;
    let committed: CommitResult | undefined;
    let alerts: WorkedFrame['alerts'] = { sent: 0, suppressed: 0 };
    const worked = async (outcome: ComparisonOutcome): Promise<Worked> => {
      // A skipped frame was not saved, so it may still be among the waiting ones.
      const { more } = committed ?? (await turns.drop(turn));
      return { kind: 'worked', frame: { camera: camera.id, outcome, alerts }, more };
    };
    const save: Save = async (ended, part) => {
      committed = await turns.commit(turn, { stored: ended, ...part });
      if (committed.kind !== 'saved') return false;
      alerts = { sent: part.changes?.alerts.length ?? 0, suppressed: part.changes?.suppressed ?? 0 };
      return true;
    };
    if (stored === undefined || isFinal(stored.comparison.status)) return worked(skipped(stored));
    try {
      assertNotQuarantined(turn.deaths);
    } catch (thrown) {
      return worked(await lifeCycle.giveUp(stored, asScenedeltaError(thrown), save));
    }
    const needs: TurnStage = unfetchedFrames(stored).length > 0 ? 'fetch' : 'compare';
    if (needs !== stage) return { kind: 'passed', to: needs };
    const frame = { turn, stored, signal };
    const attempt = (): Attempt => ({ stored, startedAt: clock(), signal, last: turn.tries >= MAX_TRIES, save });
    if (stage === 'compare') return worked(await tracedAttempt(stored, clock(), () => run(attempt(), frame)));

    const room = deps.fetchLimits.enter(stored);
    if ('laterAt' in room) return { kind: 'later', at: room.laterAt };
    try {
      const fetched = await fetchOnly(attempt(), frame);
      return fetched.kind === 'fetched' ? { kind: 'passed', to: 'compare' } : worked(fetched);
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

  const alone = async <T>(turn: Turn, run: () => Promise<T>): Promise<T> => {
    await turns.alone(turn, deps.worker);
    return run();
  };

  /** Works on the earliest frame, which the caller has taken. @returns how the job goes on */
  const workOne = async (turn: Turn, stage: TurnStage): Promise<Worked | Exclude<TurnOutcome, { kind: 'worked' }>> => {
    const { camera, comparisonId, tries } = turn;
    let ended: Awaited<ReturnType<typeof work>>;
    try {
      ended = await holding(turn, (signal) => {
        const run = () => work(turn, stage, signal);
        return turn.deaths.deaths === 0 ? deps.guard.beside(run) : deps.guard.alone(() => alone(turn, run));
      });
    } catch (thrown) {
      if (isStoreRefusal(thrown) || asScenedeltaError(thrown).permanent || tries >= MAX_TRIES) throw thrown;
      const fields = { err: thrown, camera_id: camera.id, comparison_id: comparisonId, tries };
      deps.logger.warn(fields, 'turn is tried again');
      // The turn stays held until this job continues it, or for some time longer if the job is lost.
      const wait = BACKOFF_MS * 2 ** (tries - 1);
      await turns.count(turn, tries);
      await turns.renew(turn, wait + deps.holdMs);
      return { kind: 'later', at: clock() + wait };
    }
    if (ended.kind === 'later') {
      await turns.count(turn, tries - 1);
      await turns.renew(turn, ended.at - clock() + deps.holdMs);
    } else if (ended.kind === 'passed') {
      // The tries of one stage do not count in the other.
      await turns.count(turn, 0);
      await release(turn, ended.to);
      return { kind: 'passed' };
    }
    return ended;
  };

  /** Gives the turn back, and queues a job if frames wait. @returns whether they do */
  const release = async (turn: Turn, stage: TurnStage = 'compare'): Promise<boolean> => {
    const more = (await turns.release(turn)) === 'more';
    // A kill between the two steps loses nothing: this job has not ended, so the queue gives it to another worker.
    if (more) await deps.queue.addTurn(turn.camera.id, stage === 'fetch' ? 'fetch' : 'live');
    return more;
  };

  return {
    /**
     * Works on the camera's waiting frames, one after the other, for a limited time.
     * @param context.job id of the queue's job, different from those of the other stage
     * @param context.onFrame called per frame that has ended
     * @throws ScenedeltaError: transient if the stores are away, so that the queue tries again; permanent if the
     *   payload cannot be read.
     */
    async process(
      payload: unknown,
      { job, stage = 'compare', onFrame }: { job: string; stage?: TurnStage; onFrame?: (frame: WorkedFrame) => void },
    ): Promise<TurnOutcome> {
      const { camera } = parseJob(TurnJobSchema, payload);
      const until = clock() + JOB_MS;
      for (let began = false; ; began = true) {
        const turn = await turns.take(camera, { job, token: deps.token(), ttlMs: deps.holdMs, worker: deps.worker });
        if (turn === 'held' || turn === 'empty') return began ? { kind: 'worked', more: false } : { kind: 'idle' };
        const ended = await workOne(turn, stage);
        if (ended.kind !== 'worked') return ended;
        onFrame?.(ended.frame);
        if (!ended.more) return { kind: 'worked', more: false };
        if (clock() >= until) return { kind: 'worked', more: await release(turn) };
      }
    },
  };
}
