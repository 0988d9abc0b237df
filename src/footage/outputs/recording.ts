/** The input of every output: all records of a processed recording. */
import type { FootageChange, FootageFailure, FootageGap, FootageSummary, FootageVisit } from '../records.js';

export interface Recording {
  readonly summary: FootageSummary;
  /** in the order of `compareRecords` */
  readonly changes: readonly FootageChange[];
  /** visits and passages, in the same order */
  readonly visits: readonly FootageVisit[];
  readonly gaps: readonly FootageGap[];
  readonly failures: readonly FootageFailure[];
}

type RecordId = Pick<FootageChange, 'camera' | 'id'>;

/** Order of the outputs: by camera, then by id, which begins with the time of the first frame that shows it. */
export const compareRecords = (a: RecordId, b: RecordId): number => compare(a.camera, b.camera) || compare(a.id, b.id);

/** By code units: the order is independent of the machine's language. */
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
