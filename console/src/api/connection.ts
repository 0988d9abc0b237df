/** Whether the service can be reached. While it cannot, it is asked again every two seconds. */
import { signal } from '@preact/signals';

const AGAIN_MS = 2_000;

export const away = signal(false);
/** Counts the times that the service came back; views that depend on it read their data again. */
export const recoveries = signal(0);

let timer: ReturnType<typeof setTimeout> | undefined;

export function reportAway(): void {
  away.value = true;
  timer ??= setTimeout(probe, AGAIN_MS);
}

export function reportReached(): void {
  if (!away.value) return;
  clearTimeout(timer);
  timer = undefined;
  away.value = false;
  recoveries.value++;
}

async function probe(): Promise<void> {
  timer = undefined;
  const reached = await fetch('/livez', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (reached) reportReached();
  else reportAway();
}
