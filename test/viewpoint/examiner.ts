import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { RgbImage } from '../../src/base/images.js';
import type { namedTampers, ViewpointEvidence } from '../../src/viewpoint/evidence.js';

export interface Examined {
  readonly evidence: ViewpointEvidence;
  readonly moved: boolean;
  readonly tampers: ReturnType<typeof namedTampers>;
}

/** Runs `examine` from dist/ in a thread, as the inference threads do (npm test builds it first). */
export function startExaminer(): {
  examine(before: RgbImage, after: RgbImage): Promise<Examined>;
  close(): Promise<unknown>;
} {
  const worker = new Worker(new URL('./examine-thread.mjs', import.meta.url));
  return {
    async examine(before, after) {
      worker.postMessage({ before, after });
      const [answer] = await once(worker, 'message');
      return answer as Examined;
    },
    close: () => worker.terminate(),
  };
}
