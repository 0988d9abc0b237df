/** Changes that wait for their confirmation, as the answers about a camera describe them. */
import { isoTime } from '../../base/wall-clock.js';
import type { PendingChange } from '../../schemas/camera-frame.js';
import type { ChangeRules } from './rules.js';
import { isOnLens } from './scene-evidence.js';
import type { TrackerState } from './state.js';

const SECOND = 1_000;

export const pendingChanges = (
  { tracks }: Pick<TrackerState, 'tracks'>,
  { confirmFrames, persistMs }: Pick<ChangeRules, 'confirmFrames' | 'persistMs'>,
): PendingChange[] =>
  tracks
    .filter(({ stage }) => stage === 'pending')
    .map((track) => ({ ...track, onLens: isOnLens(track, { confirmFrames }) }))
    .map(({ seen, firstSeen, onLens }) => ({
      first_seen: isoTime(firstSeen),
      frames: seen,
      confirm_frames: confirmFrames,
      detail: onLens
        ? 'something that seems to lie on the lens: it opens a change once more frames show it in the scene than on it'
        : `a change waits for its confirmation: ${Math.min(seen, confirmFrames)} of ${confirmFrames} frames in a row` +
          (persistMs > 0 ? `, and at least ${persistMs / SECOND} s (persist_s)` : ''),
    }));
