/** The filter of a report over its visits and changes. Pure. */
import type { ReportData, ReportEntry } from '../../../../src/schemas/documents.js';

/** '' for everything. */
export interface Filter {
  readonly camera: string;
  readonly kind: string;
  readonly day: string;
  readonly text: string;
  /** whether changes are shown that belong to a visit */
  readonly places: boolean;
}

export const EVERYTHING: Filter = { camera: '', kind: '', day: '', text: '', places: false };

/** @returns a function that says whether an entry fits a filter; it reads sentence, camera, file and zone */
export function matcherOf({ visits, changes, texts }: ReportData): (filter: Filter) => (entry: ReportEntry) => boolean {
  const read: ReadonlySet<string> = new Set([texts.in_the_footage, texts.zone]);
  const words = new Map(
    [...visits, ...changes].map((entry) => {
      const facts = entry.facts.filter(([name]) => read.has(name)).map(([, value]) => value);
      return [entry, [entry.caption, entry.camera, ...facts].join(' ').toLowerCase()];
    }),
  );
  return ({ camera, kind, day, text, places }) => {
    const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
    return (entry) =>
      (places || !entry.isPlace) &&
      (camera === '' || entry.camera === camera) &&
      (kind === '' || entry.kind === kind) &&
      (day === '' || entry.day === day) &&
      wanted.every((word) => words.get(entry)?.includes(word));
  };
}
