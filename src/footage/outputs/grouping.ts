/** The changes of a recording that are places of a visit, and the passages of each hour. Pure. */
import { type Box, overlapsBy } from '../../images.js';
import { isoTimeIn } from '../inputs/wall-clock.js';
import type { FootageChange, FootageVisit, Moment } from '../records.js';

/** Time between a frame that shows the visit and one that shows the change, ms (set: a frame or two). */
const NEAR_MS = 2_000;
/** Share of the smaller box that both have in common (set). */
const SAME_PLACE = 0.3;

const timeOf = ({ at, seconds }: Moment): number => (at === null ? seconds * 1000 : Date.parse(at));

/**
 * @returns by the id of a change the id of the visit that it is a place of. An object that was left or taken is none:
 *   the visit led to it
 */
export function visitsOfChanges(
  changes: readonly FootageChange[],
  all: readonly FootageVisit[],
): ReadonlyMap<string, string> {
  const visits = all.filter(({ kind }) => kind === 'visit');
  return new Map(
    changes.flatMap((change): [string, string][] => {
      if (change.object !== undefined) return [];
      const visit = visits.find((one) => one.camera === change.camera && isPlaceOf(change, one));
      return visit === undefined ? [] : [[change.id, visit.id]];
    }),
  );
}

function isPlaceOf({ regions, first_seen, last_seen }: FootageChange, { path }: FootageVisit): boolean {
  const [from, until] = [timeOf(first_seen) - NEAR_MS, timeOf(last_seen) + NEAR_MS];
  return path.some((point) => {
    const time = Date.parse(point.at);
    // "Before" shows where the thing was some frames ago.
    return regions.some(
      ({ side, box }) => time <= until && (side === 'before' || time >= from) && isSamePlace(box, point.box),
    );
  });
}

const isSamePlace = (a: Box, b: Box): boolean => overlapsBy(a, b, SAME_PLACE);

export interface PassagesOfHour {
  readonly camera: string;
  /** ISO 8601, the full hour in the camera's local time, with its offset */
  readonly hour: string;
  readonly passages: number;
}

/** Only of cameras with capture times. @param zoneOf IANA time zone of a camera */
export function passagesPerHour(visits: readonly FootageVisit[], zoneOf: (camera: string) => string): PassagesOfHour[] {
  const counts = new Map<string, PassagesOfHour>();
  for (const { kind, camera, first_seen } of visits) {
    if (kind !== 'passage' || first_seen.at === null) continue;
    const hour = isoTimeIn(Date.parse(first_seen.at), zoneOf(camera)).replace(/:\d\d:\d\d\.\d+/, ':00:00');
    const key = `${camera}\n${hour}`;
    counts.set(key, { camera, hour, passages: (counts.get(key)?.passages ?? 0) + 1 });
  }
  return [...counts.values()];
}
