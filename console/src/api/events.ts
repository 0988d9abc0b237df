/** The live event stream of the service. It connects again by itself, also after the service was away. */
import { signal } from '@preact/signals';
import { ENDPOINT_EVENTS } from '../../../src/schemas/message.js';
import { probe, reportAway } from './connection.js';
import { addressOf } from './root.js';

export interface LiveEvent {
  readonly type: string;
  readonly camera: string | null;
  readonly subject: { readonly kind: string; readonly id: string };
}

/** Events that receivers can ask for, and events that only pages show. */
const TYPES: readonly string[] = [
  ...ENDPOINT_EVENTS,
  'change.persisting',
  'change.settled',
  'change.unacknowledged',
  'visit.acknowledged',
  'visit.unacknowledged',
  'comparison.finished',
];
const AGAIN_MS = 3_000;

/** The service sends an event `heartbeat` every 15 s while it follows its store. */
const HEARTBEAT_MS = 15_000;
const SILENT_MS = 1.5 * HEARTBEAT_MS;

/** Whether an event or a heartbeat came lately. */
export const live = signal(false);

/** @param onEvent is called per event. @returns a function that closes the stream */
export function watchEvents(onEvent: (event: LiveEvent) => void): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    live.value = true;
    clearTimeout(silence);
    silence = setTimeout(() => {
      live.value = false;
      void probe();
    }, SILENT_MS);
  };
  const open = () => {
    source = new EventSource(addressOf('/v1/events?heartbeats=true'));
    source.addEventListener('heartbeat', heard);
    source.onerror = () => {
      clearTimeout(silence);
      live.value = false;
      reportAway();
      // The browser gives up after an answer that is no stream.
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, AGAIN_MS);
    };
    for (const type of TYPES) {
      source.addEventListener(type, ({ data }: MessageEvent<string>) => {
        heard();
        onEvent(JSON.parse(data) as LiveEvent);
      });
    }
  };
  open();
  return () => {
    clearTimeout(timer);
    clearTimeout(silence);
    source?.close();
    live.value = false;
  };
}
