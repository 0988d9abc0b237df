/** What cameras ask to be kept for a shorter time than the service keeps it, and what they still need however old it is. */
import { type BlobStore, frameKey, heatmapKey } from '../stores/blobs.js';
import type { CameraStore, StoredCamera } from '../stores/cameras.js';
import type { ChangeStore } from '../stores/changes.js';
import type { ResultStore } from '../stores/results.js';

const HOUR_MS = 3_600_000;
/** A frame is stored some moments before its comparison exists, and is compared with some moments after what is in use was asked. */
export const YOUNGEST_MS = 5 * 60_000;
const AT_ONCE = 100;

export interface CameraRetention {
  /** Keys of the frames that the next frame of some camera is compared with. */
  framesInUse(): Promise<Set<string>>;
  /** Erases what has been kept as long as its camera's settings say. @returns how many of each. */
  retain(inUse: ReadonlySet<string>): Promise<{ comparisons: number; changes: number; frames: number }>;
}

export function createCameraRetention(deps: {
  cameras: CameraStore;
  results: ResultStore;
  changes: Pick<ChangeStore, 'eraseOlderOf'>;
  blobs: BlobStore;
  /** epoch ms */
  clock: () => number;
}): CameraRetention {
  const { cameras, results, blobs, clock } = deps;

  async function* all(): AsyncGenerator<StoredCamera> {
    for (let after: string | undefined; ; ) {
      const page = await cameras.list({ limit: AT_ONCE, ...(after === undefined ? {} : { after }) });
      yield* page;
      after = page.at(-1)?.id;
      if (after === undefined) return;
    }
  }

  const eraseResults = async (camera: string, hours: number): Promise<number> => {
    const until = clock() - hours * HOUR_MS;
    for (let erased = 0; ; ) {
      const { items } = await results.list({ camera, until, limit: AT_ONCE });
      if (items.length === 0) return erased;
      for (const { id } of items) {
        await blobs.delete(heatmapKey(id));
        await results.erase(id);
      }
      erased += items.length;
    }
  };

  /** Of comparisons that have come of age since the last round. A frame that a younger one shares goes with the older. */
  const eraseFrames = async (camera: string, hours: number, inUse: ReadonlySet<string>): Promise<number> => {
    const until = Math.floor(clock() - Math.max(hours * HOUR_MS, YOUNGEST_MS));
    const since = await cameras.framesErasedUntil(camera);
    const keys = new Set<string>();
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = { camera, since, until, limit: AT_ONCE };
      const page = await results.list(cursor === undefined ? query : { ...query, cursor });
      for (const { id } of page.items) {
        const frames = (await results.get(id))?.frames;
        for (const ref of [frames?.before, frames?.after]) if (ref != null) keys.add(frameKey(ref.sha256));
      }
      cursor = page.nextCursor;
    }
    const unused = [...keys].filter((key) => !inUse.has(key));
    for (const key of unused) await blobs.delete(key);
    // After the deletion: what a crash leaves undone is done in the next round.
    await cameras.saveFramesErasedUntil(camera, until);
    return unused.length;
  };

  return {
    async framesInUse() {
      const keys = new Set<string>();
      for await (const { id, reference } of all()) {
        const state = await cameras.state(id);
        const plates = Object.values(state?.memory ?? {}).map(({ frame }) => frame);
        for (const ref of [reference, state?.anchor?.frame, ...plates])
          if (ref != null) keys.add(frameKey(ref.sha256));
      }
      return keys;
    },
    async retain(inUse) {
      const erased = { comparisons: 0, changes: 0, frames: 0 };
      for await (const { id, settings } of all()) {
        const { frames_hours, results_hours } = settings.retention;
        if (frames_hours !== null) erased.frames += await eraseFrames(id, frames_hours, inUse);
        if (results_hours === null) continue;
        erased.comparisons += await eraseResults(id, results_hours);
        erased.changes += await deps.changes.eraseOlderOf(id, clock() - results_hours * HOUR_MS);
      }
      return erased;
    },
  };
}
