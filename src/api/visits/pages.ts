/** Pages of visits for answers: found by words of their sentences, each as it is now, with a link to its picture. */
import { isLate } from '../../camera/settings/health.js';
import { inMinutes, openVisits } from '../../camera/visits/visit.js';
import { roundFigures } from '../../schemas/rounding.js';
import type { Visit } from '../../schemas/visit.js';
import { inEnglish } from '../../search/foreign.js';
import { havingAll } from '../../search/query.js';
import { framePath } from '../../secrets/links.js';
import type { VisitStore } from '../../stores/changes/visits.js';
import type { Link } from '../comparisons/links-presenter.js';
import type { ApiDependencies } from '../dependencies.js';

type VisitQuery = Omit<Parameters<VisitStore['list']>[0], 'fits'>;

export type VisitPages = ReturnType<typeof visitPages>;

/** Both throw as the store does. */
export function visitPages(deps: Pick<ApiDependencies, 'visits' | 'cameras' | 'clock'>, link: Link) {
  const present = async (stored: readonly Visit[]): Promise<Visit[]> =>
    (await currentVisits(stored, deps)).map((visit) => ({
      ...roundFigures(visit),
      picture: link(framePath(visit.best.comparison, visit.best.side)),
    }));
  return {
    present,
    /** @param q words that must all be in the sentence; undefined: all visits */
    list: async (query: VisitQuery, q?: string) => {
      const page = await deps.visits.list({
        ...query,
        ...(q === undefined ? {} : { fits: havingAll(inEnglish(q).text) }),
      });
      return { ...page, items: await present(page.items) };
    },
  };
}

/** @returns in the order of the stored ones */
export async function currentVisits(
  stored: readonly Visit[],
  { cameras, clock }: Pick<ApiDependencies, 'cameras' | 'clock'>,
): Promise<Visit[]> {
  const open = new Set(stored.filter(({ status }) => status === 'open').map(({ camera }) => camera));
  const lasting = await Promise.all([...open].map((id) => openVisitsOf(id, cameras, clock())));
  return stored.map((visit) => lasting.flat().find(({ id }) => id === visit.id) ?? visit);
}

/** The visits of a camera from which no frame comes have ended unseen, as far as is known. */
async function openVisitsOf(camera: string, cameras: ApiDependencies['cameras'], now: number): Promise<Visit[]> {
  const [state, stored] = await Promise.all([cameras.state(camera), cameras.get(camera)]);
  const { visits, last = null, intervalMs = null } = state ?? {};
  if (visits === undefined) return [];
  const timeZone = stored?.settings.schedule?.timezone ?? 'UTC';
  const end = isLate({ lastFrameAt: last?.at ?? null, intervalMs }, now) ? 'unseen' : null;
  return openVisits(visits, camera, end).map((visit) => inMinutes(visit, timeZone));
}
