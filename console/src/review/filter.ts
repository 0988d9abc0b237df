/** Filter of the list of changes. It is kept in the query of the address, so that a link shows the same list. */
import { addressOf } from '../api/root.js';
import type { Change, Visit } from '../api/types.js';

/** `list` is 'changes' if they are not grouped by visit. */
const FIELDS = ['camera', 'label', 'day', 'zone', 'kind', 'severity', 'q', 'like', 'list'] as const;
export type Filter = Readonly<Record<(typeof FIELDS)[number], string>>;

/** @returns the filter of an address; a link may have any text, so an invalid day is left out */
export function filterOf(query: URLSearchParams): Filter {
  const filter = Object.fromEntries(FIELDS.map((field) => [field, query.get(field) ?? ''])) as Filter;
  return isDay(filter.day) ? filter : { ...filter, day: '' };
}

/** Whether the service searches: for words, or for changes like another. */
export const isSearch = ({ q, like }: Filter): boolean => q.trim() !== '' || like !== '';

/** Whether the list is grouped by visit: zones, kinds, severities and searches are of changes. */
export const isGrouped = (filter: Filter): boolean =>
  !isSearch(filter) && (['zone', 'kind', 'severity', 'list'] as const).every((field) => filter[field] === '');

/** @returns the query without empty fields */
export const queryOf = (filter: Filter): URLSearchParams =>
  new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ''));

/** Local day of a time, e.g. '2026-06-01'. */
export function dayOf(iso: string): string {
  const date = new Date(iso);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** @returns the address of the daily brief of the chosen day (default: today) and camera, in local time */
export function briefOf({ camera, label, day }: Pick<Filter, 'camera' | 'label' | 'day'>): string {
  const query = new URLSearchParams({
    format: 'html',
    day: day === '' ? 'today' : day,
    tz: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...present({ camera, label }),
  });
  return addressOf(`/v1/brief?${query}`);
}

type Given = Readonly<Record<string, string>>;
/** @returns the fields that are not empty */
export const present = (fields: Given): Given =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));

/** Query of the service for a list of the filter. */
export type ListQuery = { readonly since?: string; readonly until?: string } & Given;

/** @returns the part of the filter that visits have */
export const visitQueryOf = ({ camera, label, day }: Filter): ListQuery => ({
  ...present({ camera, label }),
  ...(day === '' ? {} : spanOf(day)),
});

/** @returns the part of the filter that changes have, without the words of a search */
export const changeQueryOf = (filter: Filter): ListQuery => {
  const { zone, kind, severity } = filter;
  return { ...visitQueryOf(filter), ...present({ zone, kind, severity }) };
};

/** @returns begin and end of a local day */
function spanOf(day: string): { since: string; until: string } {
  return { since: startOf(day, 0).toISOString(), until: startOf(day, 1).toISOString() };
}

/** @param offset days after it */
function startOf(day: string, offset: number): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + offset);
}

const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && dayOf(startOf(text, 0).toISOString()) === text;

/** Whether a visit passes the camera and day of the filter; its label is that of the camera. */
export const isShown = ({ camera, first_seen }: Visit, filter: Filter): boolean =>
  (filter.camera === '' || camera === filter.camera) && (filter.day === '' || dayOf(first_seen) === filter.day);

/** Whether the change passes the filter except for its words, which the service searches, and for its label. */
export function matches(change: Change, filter: Filter): boolean {
  return (
    (filter.camera === '' || change.camera === filter.camera) &&
    (filter.zone === '' || change.zone === filter.zone) &&
    (filter.kind === '' || change.kind === filter.kind) &&
    (filter.severity === '' || change.severity === filter.severity) &&
    (filter.day === '' || dayOf(change.confirmed_at) === filter.day)
  );
}
