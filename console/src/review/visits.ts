/** Visits of the service, and the list in which a visit has the changes that are its places. */
import { computed, signal } from '@preact/signals';
import { isPlaceOf } from '../../../src/camera/visits/places.js';
import { ApiError, api, ok } from '../api/client.js';
import type { LiveEvent } from '../api/events.js';
import { PAGE, type PageQuery } from '../api/pages.js';
import type { Box, Change, Visit } from '../api/types.js';
import type { ListQuery } from './filter.js';
import { listingOf } from './listing.js';
import { listing } from './store.js';

/** By id. The map is replaced whenever it changes. */
export const visits = signal<ReadonlyMap<string, Visit>>(new Map());

export const keepVisits = (found: readonly Visit[]): void => {
  visits.value = new Map([...visits.peek(), ...found.map((visit) => [visit.id, visit] as const)]);
};

/** The visits of the filter. */
export const visitListing = listingOf(
  (query: ListQuery & PageQuery) => ok(api.GET('/v1/visits', { params: { query } })),
  ({ first_seen }: Visit) => first_seen,
  keepVisits,
);

/** Reads the next page of the list whose rows end first. @param grouped whether visits are listed too */
export const readFurther = (grouped: boolean): Promise<void> =>
  (grouped && visitListing.reached.peek() > listing.reached.peek() ? visitListing : listing).more();

/** @returns undefined if there is no such visit */
export async function loadVisit(id: string): Promise<Visit | undefined> {
  try {
    const visit = await ok(api.GET('/v1/visits/{id}', { params: { path: { id } } }));
    keepVisits([visit]);
    return visit;
  } catch (error) {
    if (error instanceof ApiError && [400, 404].includes(error.status)) return undefined;
    throw error;
  }
}

/** Reads the open visits again, because they go on without events: those among the latest at once, the others alone. */
export async function followOpenVisits(): Promise<void> {
  const open = [...visits.peek().values()].filter(({ status }) => status === 'open');
  if (open.length === 0) return;
  const { items } = await ok(api.GET('/v1/visits', { params: { query: { limit: PAGE } } }));
  keepVisits(items);
  const latest = new Set(items.map(({ id }) => id));
  for (const { id } of open) if (!latest.has(id)) await loadVisit(id);
}

export function onVisitEvent({ subject: { kind, id } }: LiveEvent): void {
  if (kind === 'visit') void loadVisit(id).catch(() => undefined);
}

/** A line of the list: a visit with its changes, or a change that is part of none. */
export interface Entry {
  readonly id: string;
  readonly at: string;
  readonly visit: Visit | null;
  readonly changes: readonly Change[];
}

/** @returns the records that a judgement of the line is about: the visit, and its changes */
export const judgedOf = ({ visit, changes }: Pick<Entry, 'visit' | 'changes'>): (Visit | Change)[] => [
  ...(visit === null ? [] : [visit]),
  ...changes,
];

export const entryOf = (change: Change): Entry => ({
  ...{ id: change.id, at: change.confirmed_at, visit: null, changes: [change] },
});

/** Finds the visit of a change. Its answers are kept until the visits change. */
const visitOf = computed(() => {
  const paths = new Map<string, { visit: Visit; path: (readonly [number, Box])[] }[]>();
  for (const visit of visits.value.values()) {
    const path = visit.path.map(({ at, box }) => [Date.parse(at), box] as const);
    paths.set(visit.camera, [...(paths.get(visit.camera) ?? []), { visit, path }]);
  }
  const known = new WeakMap<Change, Visit | null>();
  return (change: Change): Visit | null => {
    const kept = known.get(change);
    if (kept !== undefined) return kept;
    const { id, camera, regions, first_seen, last_seen, object } = change;
    const place = { regions, from: Date.parse(first_seen), until: Date.parse(last_seen) };
    const found = paths
      .get(camera)
      ?.find(
        ({ visit, path }) =>
          visit.changes.some((linked) => linked.id === id) || (object === undefined && isPlaceOf(place, path)),
      );
    known.set(change, found?.visit ?? null);
    return found?.visit ?? null;
  };
});

/** @returns the latest first. @param shown visits of the list; a change of another one stands alone */
export function groupedByVisit(changes: readonly Change[], shown: readonly Visit[]): Entry[] {
  return visitsFirst(changes, shown).sort((a, b) => (a.at < b.at ? 1 : -1));
}

/** @returns the visits, each with its changes, and after them the other changes, both in the order given */
export function visitsFirst(changes: readonly Change[], shown: readonly Visit[]): Entry[] {
  const ofVisits = new Map<string, Change[]>(shown.map(({ id }) => [id, []]));
  const alone = changes.filter((change) => ofVisits.get(visitOf.value(change)?.id ?? '')?.push(change) === undefined);
  const entries = shown.map((visit): Entry => {
    const { id, first_seen: at } = visit;
    return { id, at, visit, changes: ofVisits.get(id) ?? [] };
  });
  return [...entries, ...alone.map(entryOf)];
}
