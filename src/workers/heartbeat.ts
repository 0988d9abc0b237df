/** Says every few seconds that this worker lives, and with which models. */
import type { Logger } from '../logger.js';
import { HEARTBEAT_MS, type WorkerDescription, type WorkerRegistry } from '../stores/workers.js';

export interface Heartbeat {
  /** Says at once what has changed. */
  beat(): Promise<void>;
  /** Takes leave. */
  close(): Promise<void>;
}

export function startHeartbeat(deps: {
  workers: WorkerRegistry;
  describe: () => WorkerDescription;
  logger: Logger;
  everyMs?: number;
}): Heartbeat {
  let beating: Promise<void> | undefined;
  // While Redis is away a beat waits for it; one waiting is enough.
  const beat = (): Promise<void> => {
    beating ??= deps.workers
      .beat(deps.describe())
      .catch((err) => deps.logger.warn({ err }, 'heartbeat failed'))
      .finally(() => {
        beating = undefined;
      });
    return beating;
  };
  const timer = setInterval(beat, deps.everyMs ?? HEARTBEAT_MS);
  timer.unref();
  void beat();
  return {
    async beat() {
      await beating;
      await beat();
    },
    async close() {
      clearInterval(timer);
      await beating;
      await deps.workers.leave(deps.describe().id);
    },
  };
}
