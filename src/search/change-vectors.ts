/** Search vectors of the changes of an index: the interface of the places that keep them, and what a search asks. */
import type { SearchVector } from '../schemas/search-vector.js';
import type { Entry } from './groups.js';
import type { Scope, SearchFilter } from './scope.js';

/** Vector of a query. */
export interface QueryVector extends SearchVector {
  /** cosine below which a change is no answer */
  readonly least: number;
}

export interface Near {
  readonly entry: Entry;
  readonly cosine: number;
}

export interface NearestQuery {
  readonly vector: QueryVector;
  /** changes that are compared and returned whatever their cosine */
  readonly given: readonly Entry[];
  readonly filter: SearchFilter;
  /** of this filter */
  readonly scope: Pick<Scope, 'places' | 'changes'>;
  /** the indexed change of an id */
  readonly entry: (id: string) => Entry | undefined;
  /** number of changes that are wanted beside `given` */
  readonly most: number;
}

export interface Nearest {
  /**
   * `given` as far as they have a vector of the query's bundle, and the nearest of the other changes that pass the
   * filter and are near enough, the nearest first
   */
  readonly near: Near[];
  /** number of changes whose cosine with the query was computed from their own vector */
  readonly compared: number;
}

export interface ChangeVectors {
  /** Sets or replaces the vector of a change. */
  put(entry: Entry, vector: SearchVector): void;
  /** The change left the index, or is put again next. */
  remove(id: string): void;
  clear(): void;
  /** Ends when all that was put is stored. */
  stored(): Promise<void>;
  vectorOf(id: string): Promise<SearchVector | undefined>;
  nearest(query: NearestQuery): Promise<Nearest>;
}

const nearestFirst = (a: Near, b: Near): number => b.cosine - a.cosine;

/** @returns the given ones and the `most` nearest others with those that equal the last of them, the nearest first */
export function nearestOf(given: readonly Near[], others: Near[], most: number): Near[] {
  return [...given, ...best(others, most)].sort(nearestFirst);
}

function best(all: Near[], most: number): Near[] {
  if (all.length <= most) return all;
  const least = Float64Array.from(all, ({ cosine }) => cosine).sort()[all.length - most] as number;
  return all.filter(({ cosine }) => cosine >= least);
}

/**
 * Cosine of a vector of length 1 with the one that begins at `start`. Four sums at a time, which is twice as fast as
 * one.
 */
export function cosineAt(query: Float32Array, block: Float32Array, start: number): number {
  const { length } = query;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let i = 0;
  for (; i + 3 < length; i += 4) {
    a += (block[start + i] as number) * (query[i] as number);
    b += (block[start + i + 1] as number) * (query[i + 1] as number);
    c += (block[start + i + 2] as number) * (query[i + 2] as number);
    d += (block[start + i + 3] as number) * (query[i + 3] as number);
  }
  for (; i < length; i++) a += (block[start + i] as number) * (query[i] as number);
  return a + b + c + d;
}
