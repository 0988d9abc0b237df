/**
 * The changes that a search may find: those that pass its filters. BM25 counts these and no others, so that neither
 * filters nor the changes that a key may not see influence a score or an interpretation.
 */
import { type FilterKind, hasKind, type Severity } from '../schemas/kinds.js';
import type { ChangeGroups, Entry, Group, Place, Text } from './groups.js';

export interface SearchFilter {
  /** whether changes of this camera may be found; default: all */
  readonly camera?: (camera: string) => boolean;
  readonly zone?: string;
  readonly kind?: FilterKind;
  readonly severity?: Severity;
  /** confirmation, epoch ms, inclusive */
  readonly since?: number;
  /** exclusive */
  readonly until?: number;
  /** id of a change that is not found */
  readonly except?: string;
}

/** Changes that may be found, and their numbers, which hold until the next scope is made. */
export interface Scope {
  readonly places: ReadonlySet<Place>;
  readonly changes: number;
  /** mean number of items of their texts */
  readonly averageLength: number;
  readonly ofText: (text: Text) => number;
  readonly ofPlace: (place: Place) => number;
  readonly ofGroup: (group: Group) => number;
}

export function scopeOf(changes: ChangeGroups, filter: SearchFilter): Scope {
  return takesAll(filter) ? everything(changes) : filtered(changes, filter);
}

export const takesAll = (filter: SearchFilter): boolean => Object.values(filter).every((value) => value === undefined);

const everything = (changes: ChangeGroups): Scope => ({
  places: new Set(changes.places()),
  changes: changes.size,
  averageLength: changes.lengths / Math.max(1, changes.size),
  ofText: (text) => text.changes,
  ofPlace: (place) => place.changes,
  ofGroup: (group) => group.entries.size,
});

function filtered(changes: ChangeGroups, filter: SearchFilter): Scope {
  const places = new Set<Place>();
  for (const text of changes.texts()) text.inScope = 0;
  let [total, lengths] = [0, 0];
  const { camera: sees = () => true, zone, ...ofEntries } = filter;
  const countsAll = takesAll(ofEntries);
  for (const place of changes.places()) {
    place.inScope = 0;
    if (!sees(place.camera) || (zone !== undefined && zone !== place.zone)) continue;
    for (const group of place.groups) {
      group.inScope = countsAll ? group.entries.size : countOf(group.entries, filter);
      group.text.inScope += group.inScope;
      place.inScope += group.inScope;
      lengths += group.inScope * group.text.length;
    }
    total += place.inScope;
    if (place.inScope > 0) places.add(place);
  }
  return {
    places,
    changes: total,
    averageLength: lengths / Math.max(1, total),
    ofText: (text) => text.inScope,
    ofPlace: (place) => place.inScope,
    ofGroup: (group) => (places.has(group.place) ? group.inScope : 0),
  };
}

/** Whether the change passes the filters of single changes; the scope's groups passed those of camera and zone. */
export function passes(entry: Entry, filter: SearchFilter): boolean {
  const { id, severity, confirmed } = entry;
  return (
    (filter.kind === undefined || hasKind(entry, filter.kind)) &&
    (filter.severity === undefined || severity === filter.severity) &&
    (filter.since === undefined || confirmed >= filter.since) &&
    (filter.until === undefined || confirmed < filter.until) &&
    id !== filter.except
  );
}

export function isInScope(term: string, changes: ChangeGroups, { places, ofText }: Scope): boolean {
  return some(changes.textsWith(term), (text) => ofText(text) > 0) || some(places, ({ terms }) => terms.has(term));
}

/** Single words of the changes in scope, without the keys of concepts. */
export function* wordsInScope(changes: ChangeGroups, { places, ofText }: Scope): Iterable<string> {
  for (const term of changes.terms()) {
    if (!term.includes(':') && some(changes.textsWith(term), (text) => ofText(text) > 0)) yield term;
  }
  for (const { terms } of places) {
    for (const term of terms.keys()) if (!term.includes(':')) yield term;
  }
}

function countOf(entries: Iterable<Entry>, filter: SearchFilter): number {
  let count = 0;
  for (const entry of entries) if (passes(entry, filter)) count++;
  return count;
}

function some<T>(all: Iterable<T>, is: (one: T) => boolean): boolean {
  for (const one of all) if (is(one)) return true;
  return false;
}
