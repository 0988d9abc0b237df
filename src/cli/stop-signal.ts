/** Ctrl-C and SIGTERM while a command works: it ends what it has begun, and what it wrote stays usable. */

/** @returns the signal, aborted by the first of them; `done` lets the next one end the process again */
export function listenForStop(): { readonly signal: AbortSignal; done(): void } {
  const stop = new AbortController();
  const abort = () => stop.abort();
  process.once('SIGINT', abort).once('SIGTERM', abort);
  return {
    signal: stop.signal,
    done: () => void process.off('SIGINT', abort).off('SIGTERM', abort),
  };
}
