/** Merging of changes that come and go at one place, as a flag in the wind or a door that is used. Pure. */
import { sharedArea } from '../../base/images.js';
import { type FootageChange, timeOf } from '../records.js';
import { sightingOf } from './change-sightings.js';

/**
 * @param changes of any cameras
 * @param windowMs two changes of one camera, kind and place are one if the second begins within this time after the
 *   first has ended
 * @returns the changes, each merged one as it began with the end of its last
 */
export function mergeChanges(changes: readonly FootageChange[], windowMs: number): FootageChange[] {
  const merged: FootageChange[] = [];
  for (const change of [...changes].sort((a, b) => timeOf(a.first_seen) - timeOf(b.first_seen))) {
    const earlier = merged.findLastIndex((other) => isSame(other, change) && followsWithin(other, change, windowMs));
    if (earlier < 0) merged.push(change);
    else merged[earlier] = joined(merged[earlier] as FootageChange, change);
  }
  return merged;
}

const isSame = (a: FootageChange, b: FootageChange): boolean =>
  a.camera === b.camera &&
  a.kind === b.kind &&
  a.zone === b.zone &&
  a.regions.some((one) => b.regions.some((other) => one.side === other.side && sharedArea(one.box, other.box) > 0));

const endOf = ({ reverted, last_seen }: FootageChange): number => timeOf(reverted ?? last_seen);

const followsWithin = (a: FootageChange, b: FootageChange, windowMs: number): boolean =>
  timeOf(b.first_seen) - endOf(a) <= windowMs;

/** The sighting is that of the more confident one. */
function joined(first: FootageChange, next: FootageChange): FootageChange {
  const shown = next.confidence > first.confidence ? next : first;
  const { last_seen, settled, reverted, status } = next;
  const { outlines: _outlines, pictured: _pictured, ...begun } = first;
  return { ...begun, ...sightingOf(shown), last_seen, settled, reverted, status };
}
