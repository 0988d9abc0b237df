/**
 * Whether a track lies in the scene or on the lens, by all frames that showed it. A thing that moves looks different in
 * each frame, so that frames count together. Its place says nothing: drops keep theirs, and so do parked cars. Pure.
 */
import { logitOf } from '../../base/logistic.js';
import type { ChangeRules } from './rules.js';
import type { Location, Track } from './state.js';

/** @param seen the locations of a frame that show the track @returns undefined if no frame has evidence */
export function withScene(known: Track['scene'], seen: readonly Location[]): Track['scene'] {
  const probabilities = seen.flatMap(({ regions }) => regions.flatMap(({ scene }) => scene ?? []));
  if (probabilities.length === 0) return known;
  // A thing whose shadow or reflection is blurred is one thing with it.
  return (known ?? 0) + logitOf(Math.max(...probabilities));
}

/** Whether the scene is at least as likely as the lens. */
export const isInScene = ({ scene = 0 }: Pick<Track, 'scene'>): boolean => scene >= 0;

/** Whether enough frames showed a pending track, and they show it on the lens: no change opens, and no other waits. */
export const isOnLens = (track: Track, { confirmFrames }: Pick<ChangeRules, 'confirmFrames'>): boolean =>
  track.stage === 'pending' && track.seen >= confirmFrames && !isInScene(track);
