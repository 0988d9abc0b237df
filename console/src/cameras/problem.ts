/** Whether and why the pictures of a camera do not show the scene of this moment. */
import type { Camera } from '../api/types.js';
import { t } from '../texts/texts.js';
import { shownTime } from '../ui/format.js';

/** @returns a sentence about the state or the last frame */
export function detailOf({ overview }: Camera): string {
  const { frozen_since = null, lens = null, last_failure = null, detail = '' } = overview ?? {};
  if (last_failure !== null) return t('The last frame failed: {error}', { error: last_failure.error });
  if (lens !== null && overview?.state === 'covered') {
    const covers = { time: shownTime(lens.since), percent: Math.round(100 * lens.share) };
    return t('Something has been on the lens since {time}; it covers {percent} % of the view.', covers);
  }
  return frozen_since === null
    ? detail
    : t('It has sent the same picture since {time}.', { time: shownTime(frozen_since) });
}

/** A camera without any frame yet has no problem. */
export const hasProblem = ({ overview }: Camera): boolean =>
  overview !== undefined && !['live', 'no_frame_yet'].includes(overview.state);
