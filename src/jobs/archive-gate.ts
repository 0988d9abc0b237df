/** Gate for archive work: it gives way to live work. */
import type { Queue } from 'bullmq';

/** Interval at which waiting archive work checks whether live jobs leave a thread free. */
const ROOM_CHECK_MS = 250;

export type ArchiveGate = ReturnType<typeof createArchiveGate>;

/**
 * Gate for archive jobs: one may begin while live jobs leave a thread free and none waits. An archive can fill an idle
 * night, and never delays a camera by more than the pairs that already run.
 * @param threads pairs that the model processes at once
 * @param hasSuspects whether a job waits for the end of all others (job-guard.ts), or runs alone: the gate is open then
 */
export function createArchiveGate(liveQueue: Queue, threads: number, hasSuspects: () => boolean = () => false) {
  let running = 0;
  let open = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const resolve of waiting) resolve();
    waiting.clear();
  };
  return {
    async live<T>(run: () => Promise<T>): Promise<T> {
      running++;
      try {
        return await run();
      } finally {
        running--;
        wake();
      }
    },
    /** Resolves when archive work may begin. */
    async pass(): Promise<void> {
      while (!open && !hasSuspects()) {
        // The queue is checked too, because between two live jobs none runs for a moment.
        if (running < threads && (await liveQueue.getJobCountByTypes('waiting', 'prioritized')) === 0) return;
        await new Promise<void>((resolve) => {
          waiting.add(resolve);
          setTimeout(resolve, ROOM_CHECK_MS).unref();
        });
      }
    },
    /** Lets the waiting jobs begin: a worker that closes finishes the jobs it holds. */
    open(): void {
      open = true;
      wake();
    },
  };
}
