/**
 * Retention: deletes comparisons, changes, visits, frames and heatmaps after their time. Frames of unfinished
 * comparisons, of comparisons with feedback and of the baselines of cameras stay however old they are.
 */
import { type BlobStore, frameKey, heatmapKey } from '../base/blobs.js';
import { HOUR_MS } from '../base/clock.js';
import type { Config } from '../process/config.js';
import type { Logger } from '../process/logger.js';
import { PACKAGE_KEPT_HOURS } from '../schemas/evidence.js';
import type { FrameRef } from '../schemas/frame-ref.js';
import type { BatchFiles } from '../stores/batches/batch-files.js';
import type { BatchStore } from '../stores/batches/batches.js';
import { eraseBatch } from '../stores/batches/erase-batch.js';
import type { FrameUses } from '../stores/blobs/frame-uses.js';
import type { ChangeStore } from '../stores/changes/changes.js';
import type { ResultStore } from '../stores/comparisons/results.js';
import { type CameraRetention, YOUNGEST_MS } from './camera-retention.js';

const AT_ONCE = 500;
const AT_MOST = 100_000;
/** Files of a batch that has not been created within this time belong to none. */
const LONGEST_UPLOAD_MS = 48 * HOUR_MS;

interface Retained {
  readonly comparisons: number;
  readonly changes: number;
  readonly visits: number;
  readonly frames: number;
  readonly heatmaps: number;
  readonly batches: number;
}

/** @returns a function that runs one round and returns how many of each it deleted. */
export function createRetention(deps: {
  results: ResultStore;
  changes: Pick<ChangeStore, 'olderThan' | 'erase' | 'withFeedback'>;
  blobs: BlobStore;
  frameUses: Pick<FrameUses, 'left' | 'inComparisons' | 'settle'>;
  batches: Pick<BatchStore, 'get' | 'olderThan' | 'erase'>;
  files: Pick<BatchFiles, 'erase' | 'olderThan'>;
  ofCameras: CameraRetention;
  config: Pick<Config, 'frameRetentionHours' | 'heatmapRetentionHours' | 'resultRetentionHours'>;
  clock: () => number;
  logger: Logger;
}): () => Promise<Retained> {
  const { results, changes, blobs, frameUses, config, clock } = deps;

  /** @returns how many items were erased */
  const eraseAll = async (
    olderThan: (before: number, limit: number) => Promise<string[]>,
    erase: (id: string) => Promise<unknown>,
  ): Promise<number> => {
    const before = cutoff(config.resultRetentionHours);
    for (let erased = 0; ; ) {
      const ids = await olderThan(before, AT_ONCE);
      for (const id of ids) await erase(id);
      erased += ids.length;
      if (ids.length < AT_ONCE) return erased;
    }
  };
  const eraseComparison = async (id: string) => {
    await blobs.delete(heatmapKey(id));
    await results.erase(id);
  };

  /** @returns ids of comparisons with feedback, which evaluations need for as long as the comparison is kept. */
  const withFeedback = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let after = 0; ; after += AT_ONCE) {
      const { items, last } = await changes.withFeedback(after, AT_ONCE);
      ids.push(...items.map((change) => change.comparisons.best));
      if (last) return ids;
    }
  };

  const framesInUse = async (): Promise<Set<string>> => {
    const keys = new Set<string>();
    const keep = (ref: FrameRef | null) => {
      if (ref?.from === 'stored') keys.add(frameKey(ref.sha256));
    };
    for (const id of [...(await results.unfinished(clock(), AT_MOST)), ...(await withFeedback())]) {
      const stored = await results.get(id);
      for (const ref of [stored?.request.before, stored?.request.after, stored?.frames.before, stored?.frames.after]) {
        keep(ref ?? null);
      }
    }
    return keys;
  };

  /** Deletes the frames that erased comparisons and cameras have left, if nothing else needs them. */
  const eraseLeftFrames = async (inUse: ReadonlySet<string>): Promise<void> => {
    // A younger frame may have been sent once more, for a comparison that does not exist yet.
    const before = clock() - YOUNGEST_MS;
    const left = await frameUses.left(before);
    if (left.length === 0) return;
    const compared = await frameUses.inComparisons(new Set(left));
    const unused = left.filter((hash) => !compared.has(hash) && !inUse.has(frameKey(hash)));
    for (const hash of unused) await blobs.delete(frameKey(hash), before);
    await frameUses.settle(before);
  };

  const cutoff = (hours: number) => clock() - Math.max(hours * HOUR_MS, YOUNGEST_MS);

  /** Uploads whose request ended with the API's process before there was a batch. */
  const eraseAbandonedUploads = async (): Promise<void> => {
    for (const id of await deps.files.olderThan(clock() - LONGEST_UPLOAD_MS)) {
      if ((await deps.batches.get(id)) === undefined) await deps.files.erase(id);
    }
  };

  return async () => {
    const inUse = new Set([...(await framesInUse()), ...(await deps.ofCameras.framesInUse())]);
    const ofCameras = await deps.ofCameras.retain(inUse);
    await eraseLeftFrames(inUse);
    const retained = {
      comparisons: ofCameras.comparisons + (await eraseAll(results.olderThan, eraseComparison)),
      changes: ofCameras.changes + (await eraseAll(changes.olderThan, changes.erase)),
      visits: await deps.ofCameras.retainVisits(config.resultRetentionHours),
      frames: ofCameras.frames + (await blobs.sweep('frames', cutoff(config.frameRetentionHours), inUse)),
      heatmaps: await blobs.sweep('heatmaps', cutoff(config.heatmapRetentionHours)),
      packages: await blobs.sweep('evidence', cutoff(PACKAGE_KEPT_HOURS)),
      batches: await eraseAll(deps.batches.olderThan, (id) => eraseBatch(id, deps)),
    };
    await results.eraseEventsBefore(cutoff(config.resultRetentionHours));
    await eraseAbandonedUploads();
    deps.logger.info(retained, 'retention');
    return retained;
  };
}
