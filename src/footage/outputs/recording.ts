/** The input of every output: all records of a processed recording. */
import type { FootageChange, FootageFailure, FootageGap, FootageSummary } from '../records.js';

export interface Recording {
  readonly summary: FootageSummary;
  /** in the order of `compareChanges` */
  readonly changes: readonly FootageChange[];
  readonly gaps: readonly FootageGap[];
  readonly failures: readonly FootageFailure[];
}

/** Order of the outputs: by camera, then by id, which begins with the time at which a frame first showed the change. */
export const compareChanges = (a: FootageChange, b: FootageChange): number =>
  compare(a.camera, b.camera) || compare(a.id, b.id);

/** By code units: the order is independent of the machine's language. */
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
