/** The brief of one camera and day, from its changes, its visits and the times in which it showed nothing. */
import type { StoredCamera } from '../camera/settings/camera.js';
import type { Locale } from '../language/locales.js';
import { translated } from '../language/translate.js';
import type { CameraStore } from '../stores/cameras/cameras.js';
import type { DayStore } from '../stores/changes/days.js';
import type { VisitStore } from '../stores/changes/visits.js';
import type { Day } from './day.js';
import { briefLists, isFact, withEnds } from './lists.js';
import { notSeen } from './not-seen.js';
import type { CameraPart } from './summary.js';
import { briefVisits } from './visits.js';

export interface BriefDependencies {
  readonly days: Pick<DayStore, 'changesOf' | 'unseenOf'>;
  readonly cameras: Pick<CameraStore, 'get' | 'state'>;
  readonly visits: Pick<VisitStore, 'list' | 'counts'>;
  /** epoch ms */
  readonly clock: () => number;
  /** @returns the address of a change or a visit, by its id */
  readonly urlOf: (id: string) => string;
}

/** Changes that are read per index of a camera: if one camera is asked for, and if several are. */
export const MOST_READ = { alone: 2_000, among_others: 500 } as const;

export function createBriefs(deps: BriefDependencies) {
  /** @param options.mostRead changes that are read per index */
  return async (
    { id, settings }: StoredCamera,
    day: Day,
    { mostRead, locale }: { readonly mostRead: number; readonly locale: Locale },
  ): Promise<CameraPart> => {
    const { urlOf } = deps;
    const now = deps.clock();
    const [found, spans, state, { records, ...visits }] = await Promise.all([
      deps.days.changesOf(id, day, mostRead),
      deps.days.unseenOf(id, day),
      deps.cameras.state(id),
      briefVisits(id, day, urlOf, deps, locale),
    ]);
    const changes = translated(found.changes.filter(isFact).map(withEnds), locale);
    const brief = {
      camera: id,
      name: settings.name,
      day: day.name,
      timezone: day.timezone,
      from: new Date(day.from).toISOString(),
      until: new Date(day.until).toISOString(),
      over: day.until <= now,
      ...visits,
      ...briefLists(changes, day, urlOf),
      not_seen: notSeen(day, { spans, state, gapSeconds: settings.gap_s, changes, now, locale }),
      truncated: found.truncated,
    };
    return { brief, visits: records, changes };
  };
}
