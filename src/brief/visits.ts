/** The visits of a day in a brief, and its visits and passages per hour of local time. */
import { HOUR_MS } from '../base/clock.js';
import { inMinutes } from '../camera/visits/visit.js';
import type { Locale } from '../language/locales.js';
import { translated } from '../language/translate.js';
import { type CameraBrief, MOST_BRIEF_VISITS } from '../schemas/brief.js';
import type { Visit } from '../schemas/visit.js';
import type { CameraStore } from '../stores/cameras/cameras.js';
import type { VisitStore } from '../stores/changes/visits.js';
import { currentVisits } from './current-visits.js';
import type { Day } from './day.js';

interface BriefVisitDependencies {
  readonly visits: Pick<VisitStore, 'list' | 'counts'>;
  readonly cameras: Pick<CameraStore, 'get' | 'state'>;
  /** epoch ms */
  readonly clock: () => number;
}

/** @param urlOf address of a visit, by its id */
export async function briefVisits(
  camera: string,
  { from, until, timezone }: Day,
  urlOf: (id: string) => string,
  deps: BriefVisitDependencies,
  locale: Locale,
): Promise<Pick<CameraBrief, 'visits' | 'passages'> & { readonly records: readonly Visit[] }> {
  // The hours of a day that begins at midnight; the last one may be shorter if the clock changes by half an hour.
  const bounds = [...Array.from({ length: Math.ceil((until - from) / HOUR_MS) }, (_, i) => from + i * HOUR_MS), until];
  const [page, begun, passed] = await Promise.all([
    deps.visits.list({ camera, kind: 'visit', since: from, until, limit: MOST_BRIEF_VISITS }),
    deps.visits.counts('visit', camera, bounds),
    deps.visits.counts('passage', camera, bounds),
  ]);
  const current = (await currentVisits(page.items, deps)).map((visit) => inMinutes(visit, timezone));
  const records = translated(current, locale).reverse();
  const items = records.map((visit) => {
    const { id, caption, status, first_seen, last_seen, gone } = visit;
    return { id, caption, status, first_seen, last_seen, gone, url: urlOf(id) };
  });
  const perHour = (counts: readonly number[]) =>
    counts.flatMap((count, i) => (count === 0 ? [] : [{ from: new Date(bounds[i] as number).toISOString(), count }]));
  const count = begun.reduce((sum, one) => sum + one, 0);
  return {
    visits: { count, per_hour: perHour(begun), items, left_out: Math.max(0, count - items.length) },
    passages: perHour(passed),
    records,
  };
}
