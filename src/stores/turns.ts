/**
 * A camera's turn: the right to work on its earliest frame, held by one job of all. Redis (turns-redis.ts).
 *
 * The job that holds the turn is the one that sees to it that the next frame is worked on: where frames wait when it gives the turn
 * back, it makes a job for them before it ends. A job that finds the turn held may therefore simply end. A job that lost its worker is
 * given to another one by the queue under the same id, and takes its own turn over; whoever held it before can save nothing more.
 */
import type { Comparison } from '../schemas/comparison.js';
import type { CameraState, StoredCamera } from './cameras.js';
import type { RedisCommand } from './redis.js';
import type { StoredComparison } from './results.js';

export interface Turn {
  readonly camera: StoredCamera;
  /** undefined before the first frame */
  readonly state: CameraState | undefined;
  /** the earliest that waits */
  readonly comparisonId: string;
  /** how often its turn has begun, with this time: from 1 */
  readonly tries: number;
  /** what the lock holds; opaque */
  readonly held: string;
}

/** held: by another job. empty: no frame waits. */
export type Taken = Turn | 'held' | 'empty';

export interface Outcome {
  /** finished or failed */
  readonly stored: StoredComparison & { readonly comparison: Comparison };
  /** undefined: as it was */
  readonly state?: CameraState;
  /** further writes of the same step: changes, alerts */
  readonly also?: readonly RedisCommand[];
}

export interface TurnStore {
  /** @param job id of the queue's job: the same job may take its own turn again. @param token another one at every call */
  take(camera: string, holder: { job: string; token: string; ttlMs: number }): Promise<Taken>;
  /** @returns false where the turn was lost: the caller should stop. */
  renew(turn: Turn, ttlMs: number): Promise<boolean>;
  /**
   * Saves everything, or nothing, and takes the frame out of those that wait.
   * lost: another holds the turn. final: the comparison was cancelled or erased meanwhile; only the frame is taken out.
   */
  commit(turn: Turn, outcome: Outcome): Promise<'committed' | 'lost' | 'final'>;
  /** Takes the frame out of those that wait: there is no comparison to save. */
  drop(turn: Turn): Promise<void>;
  /** Gives the turn back. @returns more: frames wait, and the caller is to make a job for them. lost: it was another's already. */
  release(turn: Turn): Promise<'free' | 'more' | 'lost'>;
}
