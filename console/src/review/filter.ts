/** Filter of the list of changes. It is kept in the query of the address, so that a link shows the same list. */
import type { Change } from '../api/types.js';

export const FIELDS = ['camera', 'day', 'zone', 'kind', 'severity', 'text'] as const;
export type Filter = Readonly<Record<(typeof FIELDS)[number], string>>;

export const filterOf = (query: URLSearchParams): Filter =>
  Object.fromEntries(FIELDS.map((field) => [field, query.get(field) ?? ''])) as Filter;

/** @returns the query without empty fields */
export const queryOf = (filter: Filter): URLSearchParams =>
  new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ''));

/** Local day of a time, e.g. '2026-06-01'. */
export function dayOf(iso: string): string {
  const date = new Date(iso);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** @returns begin and end of a local day */
export function spanOf(day: string): { since: string; until: string } {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const at = (offset: number) => new Date(year, month - 1, date + offset).toISOString();
  return { since: at(0), until: at(1) };
}

export function matches(change: Change, filter: Filter): boolean {
  const text = filter.text.toLowerCase();
  return (
    (filter.camera === '' || change.camera === filter.camera) &&
    (filter.zone === '' || change.zone === filter.zone) &&
    (filter.kind === '' || change.kind === filter.kind) &&
    (filter.severity === '' || change.severity === filter.severity) &&
    (filter.day === '' || dayOf(change.confirmed_at) === filter.day) &&
    (text === '' || `${change.caption} ${change.feedback?.caption ?? ''}`.toLowerCase().includes(text))
  );
}
