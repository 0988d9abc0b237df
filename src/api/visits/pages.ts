/**
 * Pages of visits for answers: found by words of their sentences, each as it is now, with its judgement by people and a
 * link to its picture.
 */
import { currentVisits } from '../../brief/current-visits.js';
import { roundFigures } from '../../schemas/rounding.js';
import type { Visit } from '../../schemas/visit.js';
import { framePath } from '../../secrets/links.js';
import type { VisitStore } from '../../stores/changes/visits.js';
import type { Link } from '../comparisons/links-presenter.js';
import type { ApiDependencies } from '../dependencies.js';

type VisitQuery = Omit<Parameters<VisitStore['list']>[0], 'fits'>;

export type VisitPages = ReturnType<typeof visitPages>;

/** Both throw as the store does. */
export function visitPages(deps: Pick<ApiDependencies, 'visits' | 'cameras' | 'clock'>, link: Link) {
  const present = async (stored: readonly Visit[]): Promise<Visit[]> => {
    const [visits, judgements] = await Promise.all([
      currentVisits(stored, deps),
      deps.visits.judgements(stored.map(({ id }) => id)),
    ]);
    return visits.map((visit, i) => ({
      ...roundFigures(visit),
      ...judgements[i],
      picture: link(framePath(visit.best.comparison, visit.best.side)),
    }));
  };
  return {
    present,
    /** @param q words that must all be in the sentence; undefined: all visits */
    list: async (query: VisitQuery, q?: string) => {
      const page = await deps.visits.list({ ...query, ...(q === undefined ? {} : { fits: await havingWords(q) }) });
      return { ...page, items: await present(page.items) };
    },
  };
}

/** Loaded with the first search. */
async function havingWords(q: string): Promise<(visit: Visit) => boolean> {
  const [{ havingAll }, { inEnglish }] = await Promise.all([
    import('../../search/query.js'),
    import('../../search/foreign.js'),
  ]);
  return havingAll(inEnglish(q).text);
}
