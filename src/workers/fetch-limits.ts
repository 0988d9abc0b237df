/**
 * Limits on what one worker fetches at a time: in total, per origin, per owner of API keys, per camera and for the
 * archive. Addresses that hang fill the share of their own origin, owner and camera, and no other client's.
 */
import { createShares } from '../jobs/shares.js';
import { unfetchedFrames } from '../jobs/unfetched.js';
import type { StoredComparison } from '../stores/comparisons/stored-comparison.js';

/**
 * Fetches at a time. They mostly wait, but each may hold two frames in memory (FRAME_LIMIT each), so the number is not
 * larger.
 */
export const FETCH_CONCURRENCY = 32;
const LIMITS = {
  /** Connections to one camera system, which often serves all of its cameras from one slow device. */
  origin: 8,
  /** of an API key: several owners with addresses that hang are needed to delay the fetches of the others. */
  owner: 12,
  /** One pair beside a frame; the frames of a camera's own route are fetched one at a time. */
  camera: 2,
  /** Live fetches always find room beside an archive. */
  archive: 12,
} as const;
/** Interval between two comparisons that are tried again under one limit, so that a long backlog costs little. */
const SPACING_MS = 25;

export type FetchLimits = ReturnType<typeof createFetchLimits>;

export function createFetchLimits(clock: () => number) {
  const shares = createShares(limitOf, SPACING_MS, clock);
  return {
    /** Takes room for all frames of a comparison, or for none. */
    enter: (stored: StoredComparison, { archive = false }: { archive?: boolean } = {}) =>
      shares.enter(sharesOf(stored, archive)),
  };
}

/** @returns names such as 'origin https://camera.example', without duplicates */
function sharesOf(stored: StoredComparison, archive: boolean): string[] {
  const { camera } = stored.comparison;
  const origins = unfetchedFrames(stored).map((ref) =>
    ref.from === 'url' ? `origin ${new URL(ref.url).origin}` : `origin s3://${ref.bucket}`,
  );
  return [
    ...new Set(origins),
    `owner ${stored.request.owner}`,
    ...(camera === null ? [] : [`camera ${camera}`]),
    ...(archive ? ['archive'] : []),
  ];
}

const limitOf = (name: string): number => LIMITS[name.split(' ', 1)[0] as keyof typeof LIMITS];
