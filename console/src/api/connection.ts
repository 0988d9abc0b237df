/** Whether the service can be reached, and its store. While one cannot, the service is asked every two seconds. */
import { signal } from '@preact/signals';
import { addressOf } from './root.js';

const AGAIN_MS = 2_000;
/** A service whose store hangs answers late. */
const LATEST_MS = 8_000;

export type Away = 'unreachable' | 'without store';
/** null: all is well */
export const away = signal<Away | null>(null);
/** Counts the times that the service came back; views that depend on it read their data again. */
export const recoveries = signal(0);

let timer: ReturnType<typeof setTimeout> | undefined;

export function reportAway(why: Away = 'unreachable'): void {
  away.value = why;
  timer ??= setTimeout(probe, AGAIN_MS);
}

export function reportReached(): void {
  if (away.value === null) return;
  clearTimeout(timer);
  timer = undefined;
  away.value = null;
  recoveries.value++;
}

/** Asks whether the service and its store answer, and reports it. */
export async function probe(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  try {
    const answer = await fetch(addressOf('/readyz'), { cache: 'no-store', signal: AbortSignal.timeout(LATEST_MS) });
    const { redis } = (await answer.json()) as { redis: boolean };
    if (redis) reportReached();
    else reportAway('without store');
  } catch {
    reportAway();
  }
}
