/** Comparisons as they stand: written by the API at acceptance and by workers afterwards, read by both. Redis (results-redis.ts). */

import type { ComparisonJob, StoredFrameRef } from '../jobs/payloads.js';
import type { Comparison } from '../schemas/comparison.js';
import type { PageQuery } from './pages.js';

/** What we keep beside the public resource. */
export interface StoredComparison {
  readonly comparison: Comparison;
  /** set as soon as the frames' bytes are in the blob store */
  readonly frames: { readonly before: StoredFrameRef | null; readonly after: StoredFrameRef | null };
  readonly job: ComparisonJob;
}

export interface ListQuery extends PageQuery {
  readonly camera?: string;
  readonly verdict?: string;
}

export interface ResultStore {
  /** @throws ScenedeltaError 'queue-unavailable' where Redis is away; so do all the others. */
  create(stored: StoredComparison): Promise<void>;
  get(id: string): Promise<StoredComparison | undefined>;
  /**
   * Atomically replaces the comparison unless it is final already (finished, failed, cancelled) and appends the matching event.
   * @returns false where it was final or erased: the caller's result is dropped (a stalled job that ran twice, or a cancel that came first).
   */
  update(
    id: string,
    change: { comparison: Comparison; frames?: StoredComparison['frames'] },
  ): Promise<boolean>;
  /** Newest first. */
  list(query: ListQuery): Promise<{ items: Comparison[]; nextCursor: string | null }>;
  /** Erases the comparison from the store and its indexes. @returns whether it existed. */
  erase(id: string): Promise<boolean>;
  /** Ids of comparisons older than `before` (epoch ms), at most `limit`, oldest first: for retention. */
  olderThan(before: number, limit: number): Promise<string[]>;
}
