/**
 * Deadline of one exchange with another host, from the first byte sent to the last byte read. Its timer holds the
 * controller: AbortSignal.any([signal, AbortSignal.timeout(ms)]) lets the time-out be garbage-collected on Node 20
 * (nodejs/node#57736), after which a peer that sends one byte per second is never interrupted.
 */
export interface Deadline {
  /** aborted when the time is over, or when the caller's signal is */
  readonly signal: AbortSignal;
  /** whether the time was over before `end` */
  readonly expired: boolean;
  /** Ends the deadline: releases the timer and the caller's signal. A second call has no effect. */
  end(): void;
}

/** @param ms milliseconds from now. @param signal of the caller, which ends the exchange as well */
export function startDeadline(ms: number, signal?: AbortSignal): Deadline {
  const controller = new AbortController();
  const deadline = { signal: controller.signal, expired: false, end };
  const expire = () => {
    deadline.expired = true;
    controller.abort(new DOMException(`not finished within ${ms} ms`, 'TimeoutError'));
  };
  let reading: NodeJS.Immediate | undefined;
  // A process that was suspended runs its timers first. Bytes that came meanwhile are read before the time is over.
  const timer = setTimeout(() => {
    reading = setImmediate(expire);
  }, ms);
  const cancel = () => controller.abort(signal?.reason);
  function end() {
    clearTimeout(timer);
    clearImmediate(reading);
    signal?.removeEventListener('abort', cancel);
  }
  if (signal?.aborted === true) cancel();
  else signal?.addEventListener('abort', cancel, { once: true });
  return deadline;
}
