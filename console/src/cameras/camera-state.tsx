/** The state of a camera in a word, with its reason as the title. */
import type { Camera } from '../api/types.js';
import { t } from '../texts/texts.js';
import { detailOf } from './problem.js';

const STATES = {
  live: t('live'),
  no_frames: t('no frames'),
  stuck: t('stuck'),
  moved: t('moved'),
  dark: t('dark'),
  blocked: t('blocked'),
  covered: t('something on the lens'),
  out_of_focus: t('out of focus'),
  no_signal: t('no signal'),
  damaged: t('damaged picture'),
  no_frame_yet: t('no frame yet'),
} as const;

export function State({ camera }: { readonly camera: Camera }) {
  const state = camera.overview?.state ?? 'no_frame_yet';
  return (
    <span class={`camera-state ${state}`} title={detailOf(camera)}>
      {STATES[state]}
    </span>
  );
}
