/** The state of a camera in a word, with its reason as the title. */
import type { Overview } from './store.js';

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

export function State({ overview: { state, detail } }: { readonly overview: Overview }) {
  return (
    <span class={`camera-state ${state}`} title={detail}>
      {STATES[state]}
    </span>
  );
}
