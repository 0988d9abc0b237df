/** The search of the page "Review": changes and visits that fit, in their order, and how the service read the words. */
import { signal } from '@preact/signals';
import { api, messageOf, ok } from '../api/client.js';
import { PAGE } from '../api/pages.js';
import type { ChangeMatch, ChangeSearch } from '../api/types.js';
import { changeQueryOf, type Filter, isSearch } from './filter.js';
import { keepChange } from './store.js';
import { keepVisits } from './visits.js';

export interface Hits {
  /** ids of changes, the best first */
  readonly ids: readonly string[];
  /** ids of the latest visits whose sentences have all words, the latest first */
  readonly visits: readonly string[];
  readonly matches: ReadonlyMap<string, ChangeMatch>;
  readonly summary: ChangeSearch | null;
  readonly cursor: string | null;
}
const NONE: Hits = { ids: [], visits: [], matches: new Map(), summary: null, cursor: null };

export const hits = signal<Hits>(NONE);
export const searching = signal(false);
export const searchFault = signal('');

/** Time after the last key before a search is sent. */
const TYPED_MS = 200;

let run = 0;

/** Searches as the filter asks, some moments later. The hits of before stay until the answer. @returns how to stop */
export function searchFor(filter: Filter): () => void {
  const started = ++run;
  searchFault.value = '';
  searching.value = isSearch(filter);
  if (!isSearch(filter)) {
    hits.value = NONE;
    return () => undefined;
  }
  const timer = setTimeout(() => void read(filter, started, NONE), TYPED_MS);
  return () => clearTimeout(timer);
}

export async function searchMore(filter: Filter): Promise<void> {
  if (hits.value.cursor !== null) await read(filter, run, hits.value);
}

async function read(filter: Filter, started: number, before: Hits): Promise<void> {
  searching.value = true;
  try {
    const { q, like } = filter;
    const { cursor } = before;
    const asked = like === '' ? { q } : { like };
    const query = { ...asked, limit: PAGE, ...changeQueryOf(filter), ...(cursor === null ? {} : { cursor }) };
    const page = await ok(api.GET('/v1/changes', { params: { query } }));
    if (started !== run) return;
    for (const change of page.items) keepChange(change);
    const found = page.visits?.items ?? [];
    keepVisits(found);
    hits.value = {
      ids: [...before.ids, ...page.items.map(({ id }) => id)],
      visits: [...before.visits, ...found.map(({ id }) => id)],
      matches: new Map([
        ...before.matches,
        ...page.items.flatMap(({ id, match }) => (match ? [[id, match] as const] : [])),
      ]),
      summary: page.search ?? null,
      cursor: page.next_cursor,
    };
  } catch (error) {
    if (started !== run) return;
    hits.value = NONE;
    searchFault.value = messageOf(error);
  } finally {
    if (started === run) searching.value = false;
  }
}
