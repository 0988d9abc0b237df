/**
 * The stored spelling of a camera's state, which is that of version 0.1.0, in Redis and in the checkpoints of
 * recordings: an upgrade reads what the version before has left, and a downgrade as well.
 */
import { ScenedeltaError } from '../../base/errors.js';
import type { Settled, Track, TrackerState } from '../../camera/changes/state.js';
import type { CameraState } from '../../camera/fold/state.js';

const VERSION = 1;

type Alerted<T> = Omit<T, 'lastAlerted'> & { readonly told?: Track['lastAlerted'] };

interface StoredTracker extends Omit<TrackerState, 'tracks' | 'settled' | 'cooldowns'> {
  readonly v: typeof VERSION;
  readonly tracks: readonly (Omit<Alerted<Track>, 'stage'> & { readonly stage: 'pending' | 'open' | 'resolved' })[];
  readonly settled: readonly Alerted<Settled>[];
  readonly quiet: TrackerState['cooldowns'];
}

/** As it is stored: `memory` holds the backgrounds, `dial` the threshold of the alarm budget, `anchor` "before". */
export interface StoredState extends Omit<CameraState, 'before' | 'backgrounds' | 'budgetThreshold' | 'tracker'> {
  readonly v: typeof VERSION;
  readonly anchor: CameraState['before'];
  readonly memory: CameraState['backgrounds'];
  readonly dial: CameraState['budgetThreshold'];
  readonly alerts: StoredTracker;
}

export function storedState(state: CameraState): StoredState {
  const { before, backgrounds, budgetThreshold, tracker, ...same } = state;
  const { tracks, settled, cooldowns, ...sameOfTracker } = tracker;
  return {
    v: VERSION,
    ...same,
    ...{ anchor: before, memory: backgrounds, dial: budgetThreshold },
    alerts: {
      v: VERSION,
      ...sameOfTracker,
      tracks: tracks.map(({ lastAlerted: told, stage, ...track }) => ({
        ...track,
        told,
        stage: stage === 'ended' ? 'resolved' : stage,
      })),
      settled: settled.map(({ lastAlerted: told, ...one }) => ({ ...one, ...(told === undefined ? {} : { told }) })),
      quiet: cooldowns,
    },
  };
}

/**
 * @param camera names the state in the error
 * @throws ScenedeltaError 'internal' if a later version has stored it
 */
export function stateOf({ v, ...stored }: StoredState, camera: string): CameraState {
  if (v !== VERSION) {
    throw new ScenedeltaError(
      'internal',
      `the state of camera ${camera} has version ${v}, and this program reads ${VERSION}: start the version that ` +
        `stored it, or erase the state with DELETE /v1/cameras/${camera}`,
    );
  }
  const { anchor, memory, dial, alerts, ...same } = stored;
  const { v: _v, tracks, settled, quiet, ...sameOfTracker } = alerts;
  return {
    ...same,
    ...{ before: anchor, backgrounds: memory, budgetThreshold: dial },
    tracker: {
      ...sameOfTracker,
      tracks: tracks.map(
        ({ told = null, stage, ...track }) =>
          ({ ...track, lastAlerted: told, stage: stage === 'resolved' ? 'ended' : stage }) as Track,
      ),
      settled: settled.map(({ told, ...one }) => ({ ...one, ...(told === undefined ? {} : { lastAlerted: told }) })),
      cooldowns: quiet,
    },
  };
}

/** @param json null or '': there is no state yet @throws as stateOf */
export const readCameraState = (json: string | null, camera: string): CameraState | undefined =>
  json === null || json === '' ? undefined : stateOf(JSON.parse(json) as StoredState, camera);
