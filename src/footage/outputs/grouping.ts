/** The changes of a recording that are places of a visit, and the passages of each hour. Pure. */
import { isoTimeIn } from '../../base/wall-clock.js';
import { isPlaceOf } from '../../camera/visits/places.js';
import { type FootageChange, type FootageVisit, timeOf } from '../records.js';

/**
 * @returns by the id of a change the id of the visit that it is a place of. An object that was left or taken is none:
 *   the visit led to it
 */
export function visitsOfChanges(
  changes: readonly FootageChange[],
  all: readonly FootageVisit[],
): ReadonlyMap<string, string> {
  const visits = all
    .filter(({ kind }) => kind === 'visit')
    .map(({ id, camera, path }) => ({ id, camera, path: path.map(({ at, box }) => [Date.parse(at), box] as const) }));
  return new Map(
    changes.flatMap((change): [string, string][] => {
      if (change.object !== undefined) return [];
      const { regions, first_seen, last_seen } = change;
      const place = { regions, from: timeOf(first_seen), until: timeOf(last_seen) };
      const visit = visits.find(({ camera, path }) => camera === change.camera && isPlaceOf(place, path));
      return visit === undefined ? [] : [[change.id, visit.id]];
    }),
  );
}

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
