/** The state of a camera in a word, with its reason as the title; and that reason. */
import type { Camera } from '../api/types.js';
import { shownTime } from '../ui/format.js';

const STATES = {
  live: 'live',
  no_frames: 'no frames',
  stuck: 'stuck',
  moved: 'moved',
  dark: 'dark',
  blocked: 'blocked',
  out_of_focus: 'out of focus',
  no_signal: 'no signal',
  damaged: 'damaged picture',
  no_frame_yet: 'no frame yet',
} as const;

/** @returns a sentence about the state or the last frame */
export function detailOf({ overview }: Camera): string {
  const { frozen_since = null, detail = '' } = overview ?? {};
  return frozen_since === null ? detail : `It has sent the same picture since ${shownTime(frozen_since)}.`;
}

export function State({ camera }: { readonly camera: Camera }) {
  const state = camera.overview?.state ?? 'no_frame_yet';
  return (
    <span class={`camera-state ${state}`} title={detailOf(camera)}>
      {STATES[state]}
    </span>
  );
}
