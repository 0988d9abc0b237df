/** Changes that wait for their confirmation, as the answers about a camera describe them. */
import { isoTime } from '../../base/wall-clock.js';
import type { PendingChange } from '../../schemas/camera-frame.js';
import type { ChangeRules } from './rules.js';
import type { TrackerState } from './state.js';

const SECOND = 1_000;

export const pendingChanges = (
  { tracks }: Pick<TrackerState, 'tracks'>,
  { confirmFrames, persistMs }: Pick<ChangeRules, 'confirmFrames' | 'persistMs'>,
): PendingChange[] =>
  tracks
    .filter(({ stage }) => stage === 'pending')
    .map(({ seen, firstSeen }) => ({
      first_seen: isoTime(firstSeen),
      frames: seen,
      confirm_frames: confirmFrames,
      detail:
        `a change waits for its confirmation: ${Math.min(seen, confirmFrames)} of ${confirmFrames} frames in a row` +
        (persistMs > 0 ? `, and at least ${persistMs / SECOND} s (persist_s)` : ''),
    }));
