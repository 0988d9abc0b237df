/**
 * Retention by camera: erases what a camera keeps for a shorter time than the service, and protects the frames in use.
 */
import { type BlobStore, frameKey, heatmapKey } from '../base/blobs.js';
import { HOUR_MS } from '../base/clock.js';
import type { FrameUses } from '../stores/blobs/frame-uses.js';
import type { CameraStore } from '../stores/cameras/cameras.js';
import type { ChangeStore } from '../stores/changes/changes.js';
import type { VisitStore } from '../stores/changes/visits.js';
import type { ResultStore } from '../stores/comparisons/results.js';

/**
 * Frames younger than this are never erased: their comparison may not exist yet, or they may have come into use since.
 */
export const YOUNGEST_MS = 5 * 60_000;
const AT_ONCE = 100;

export interface CameraRetention {
  /** @returns keys of the frames that the next frames of all cameras are compared with */
  framesInUse(): Promise<Set<string>>;
  /** Erases what is older than its camera's settings allow. @returns how many of each */
  retain(inUse: ReadonlySet<string>): Promise<{ comparisons: number; changes: number; frames: number }>;
  /** Erases visits that were last written before the camera's limit or this one. @returns how many */
  retainVisits(hours: number): Promise<number>;
}

export function createCameraRetention(deps: {
  cameras: CameraStore;
  results: ResultStore;
  frameUses: Pick<FrameUses, 'ofCamera'>;
  changes: Pick<ChangeStore, 'eraseOlderOf'>;
  visits: Pick<VisitStore, 'eraseOf'>;
  blobs: BlobStore;
  /** epoch ms */
  clock: () => number;
}): CameraRetention {
  const { cameras, results, blobs, clock } = deps;

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

  /** Erases the frames of comparisons that have passed the limit since the last round, shared frames included. */
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
    for (const key of unused) await blobs.delete(key, clock() - YOUNGEST_MS);
    // Saved after the deletion, so that the next round completes what a crash interrupts.
    await cameras.saveFramesErasedUntil(camera, until);
    return unused.length;
  };

  return {
    async framesInUse() {
      const keys = new Set<string>();
      for await (const { id } of cameras.all()) {
        for (const hash of await deps.frameUses.ofCamera(id)) keys.add(frameKey(hash));
      }
      return keys;
    },
    async retain(inUse) {
      const erased = { comparisons: 0, changes: 0, frames: 0 };
      for await (const { id, settings } of cameras.all()) {
        const { frames_hours, results_hours } = settings.retention;
        if (frames_hours !== null) erased.frames += await eraseFrames(id, frames_hours, inUse);
        if (results_hours === null) continue;
        erased.comparisons += await eraseResults(id, results_hours);
        erased.changes += await deps.changes.eraseOlderOf(id, clock() - results_hours * HOUR_MS);
      }
      return erased;
    },
    async retainVisits(hours) {
      let erased = 0;
      for await (const { id, settings } of cameras.all()) {
        const kept = Math.min(hours, settings.retention.results_hours ?? hours) * HOUR_MS;
        erased += await deps.visits.eraseOf(id, clock() - kept);
      }
      return erased;
    },
  };
}
