/** The live event stream of the service. It connects again by itself, also after the service was away. */
import { signal } from '@preact/signals';
import { reportAway, reportReached } from './connection.js';

export interface LiveEvent {
  readonly type: string;
  readonly camera: string | null;
  readonly change?: string;
  readonly comparison?: string;
}

const TYPES = [
  'change.opened',
  'change.persisting',
  'change.escalated',
  'change.settled',
  'change.reverted',
  'change.acknowledged',
  'change.unacknowledged',
  'change.described',
  'comparison.finished',
  'camera.frozen',
  'camera.recovered',
];
const AGAIN_MS = 3_000;

/** Whether the stream is open. */
export const live = signal(false);

/** @param onEvent is called per event. @returns a function that closes the stream */
export function watchEvents(onEvent: (event: LiveEvent) => void): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const open = () => {
    source = new EventSource('/v1/events');
    source.onopen = () => {
      live.value = true;
      reportReached();
    };
    source.onerror = () => {
      live.value = false;
      reportAway();
      // The browser gives up after an answer that is no stream.
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN_MS);
    };
    for (const type of TYPES) {
      source.addEventListener(type, ({ data }: MessageEvent<string>) => onEvent(JSON.parse(data) as LiveEvent));
    }
  };
  open();
  return () => {
    clearTimeout(timer);
    source?.close();
    live.value = false;
  };
}
