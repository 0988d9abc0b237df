/** Search vectors of changes in memory, and their cosines with the vector of a query. */
import type { SearchVector } from '../schemas/search-vector.js';
import type { Entry } from './groups.js';

export interface QueryVector extends SearchVector {
  /** cosine below which a change is no answer */
  readonly least: number;
}

export interface Near {
  readonly entry: Entry;
  readonly cosine: number;
}

/** Rows of one block of memory; a block is allocated at a time. */
const BLOCK_ROWS = 4_096;

/** Vectors of one bundle, in blocks of rows. */
interface Table {
  readonly dimensions: number;
  readonly blocks: Float32Array[];
  /** per row its change; undefined: the row is free */
  readonly entries: (Entry | undefined)[];
  readonly free: number[];
}

export class VectorList {
  readonly #tables = new Map<string, Table>();
  readonly #rows = new Map<string, { readonly table: Table; readonly row: number }>();

  /** number of changes with a vector */
  get size(): number {
    return this.#rows.size;
  }

  /** Sets or replaces the vector of a change. A vector of another length than the bundle's first one is left out. */
  put(entry: Entry, { bundle, values }: SearchVector): void {
    this.remove(entry.id);
    const table = this.#tables.get(bundle) ?? { dimensions: values.length, blocks: [], entries: [], free: [] };
    if (values.length !== table.dimensions) return;
    this.#tables.set(bundle, table);
    const row = table.free.pop() ?? table.entries.length;
    const block = Math.floor(row / BLOCK_ROWS);
    table.blocks[block] ??= new Float32Array(BLOCK_ROWS * table.dimensions);
    table.blocks[block].set(values, (row % BLOCK_ROWS) * table.dimensions);
    table.entries[row] = entry;
    this.#rows.set(entry.id, { table, row });
  }

  remove(id: string): void {
    const place = this.#rows.get(id);
    if (place === undefined) return;
    const { table, row } = place;
    this.#rows.delete(id);
    // An erased change leaves nothing in memory.
    valuesOf(table, row).fill(0);
    table.entries[row] = undefined;
    table.free.push(row);
  }

  clear(): void {
    this.#tables.clear();
    this.#rows.clear();
  }

  vectorOf(id: string): SearchVector | undefined {
    const place = this.#rows.get(id);
    if (place === undefined) return undefined;
    for (const [bundle, table] of this.#tables) {
      if (table === place.table) return { bundle, values: valuesOf(table, place.row) };
    }
    return undefined;
  }

  /**
   * @param takes whether a change may be found; null: all may
   * @param given changes that are compared and returned whatever their cosine
   * @returns those of `given` with a vector of the query's bundle, and the `most` nearest of the other changes
   *   that are near enough, the nearest first; and how many changes were compared
   */
  nearest(
    { bundle, values, least }: QueryVector,
    takes: ((entry: Entry) => boolean) | null,
    given: Iterable<Entry>,
    most: number,
  ): { near: Near[]; compared: number } {
    const table = this.#tables.get(bundle);
    if (table === undefined || table.dimensions !== values.length) return { near: [], compared: 0 };
    const near = new Map<Entry, Near>();
    for (const entry of given) {
      const place = this.#rows.get(entry.id);
      if (place?.table === table) near.set(entry, { entry, cosine: cosineAt(table, place.row, values) });
    }
    const others: Near[] = [];
    let compared = 0;
    // No object per row, and no look into its change: there may be 100,000, each a miss of the processor's cache.
    for (let row = 0; row < table.entries.length; row++) {
      const entry = table.entries[row];
      if (entry === undefined || takes?.(entry) === false) continue;
      compared++;
      const cosine = cosineAt(table, row, values);
      if (cosine >= least && !near.has(entry)) others.push({ entry, cosine });
    }
    return { near: [...near.values(), ...best(others, most)].sort(nearestFirst), compared };
  }
}

const nearestFirst = (a: Near, b: Near): number => b.cosine - a.cosine;

/** @returns the `most` nearest, and those that equal the last of them */
function best(all: Near[], most: number): Near[] {
  if (all.length <= most) return all;
  const least = Float64Array.from(all, ({ cosine }) => cosine).sort()[all.length - most] as number;
  return all.filter(({ cosine }) => cosine >= least);
}

const valuesOf = ({ blocks, dimensions }: Table, row: number): Float32Array => {
  const start = (row % BLOCK_ROWS) * dimensions;
  return (blocks[Math.floor(row / BLOCK_ROWS)] as Float32Array).subarray(start, start + dimensions);
};

/** Four sums at a time, which is twice as fast as one. */
function cosineAt({ blocks, dimensions }: Table, row: number, query: Float32Array): number {
  const block = blocks[Math.floor(row / BLOCK_ROWS)] as Float32Array;
  const start = (row % BLOCK_ROWS) * dimensions;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let i = 0;
  for (; i + 3 < dimensions; i += 4) {
    a += (block[start + i] as number) * (query[i] as number);
    b += (block[start + i + 1] as number) * (query[i + 1] as number);
    c += (block[start + i + 2] as number) * (query[i + 2] as number);
    d += (block[start + i + 3] as number) * (query[i + 3] as number);
  }
  for (; i < dimensions; i++) a += (block[start + i] as number) * (query[i] as number);
  return a + b + c + d;
}
