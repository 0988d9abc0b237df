/** The state of a camera in a word, with its reason as the title; and that reason. */
import type { Camera } from '../api/types.js';
import { t } from '../texts/texts.js';
import { shownTime } from '../ui/format.js';

const STATES = {
  live: t('live'),
  no_frames: t('no frames'),
  stuck: t('stuck'),
  moved: t('moved'),
  dark: t('dark'),
  blocked: t('blocked'),
  out_of_focus: t('out of focus'),
  no_signal: t('no signal'),
  damaged: t('damaged picture'),
  no_frame_yet: t('no frame yet'),
} as const;

/** @returns a sentence about the state or the last frame */
export function detailOf({ overview }: Camera): string {
  const { frozen_since = null, last_failure = null, detail = '' } = overview ?? {};
  if (last_failure !== null) return t('The last frame failed: {error}', { error: last_failure.error });
  return frozen_since === null
    ? detail
    : t('It has sent the same picture since {time}.', { time: shownTime(frozen_since) });
}

/** Whether its pictures do not show the scene of this moment. A camera without any frame yet is no problem. */
export const hasProblem = ({ overview }: Camera): boolean =>
  overview !== undefined && !['live', 'no_frame_yet'].includes(overview.state);

export function State({ camera }: { readonly camera: Camera }) {
  const state = camera.overview?.state ?? 'no_frame_yet';
  return (
    <span class={`camera-state ${state}`} title={detailOf(camera)}>
      {STATES[state]}
    </span>
  );
}
