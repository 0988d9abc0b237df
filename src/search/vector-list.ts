/** Search vectors of changes in memory: every search compares all that pass its filters. */
import type { SearchVector } from '../schemas/search-vector.js';
import {
  type ChangeVectors,
  cosineAt,
  type Near,
  type Nearest,
  type NearestQuery,
  nearestOf,
} from './change-vectors.js';
import type { Entry } from './groups.js';
import { takesOf } from './scope.js';

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

export class VectorList implements ChangeVectors {
  readonly #tables = new Map<string, Table>();
  readonly #rows = new Map<string, { readonly table: Table; readonly row: number }>();

  /** number of changes with a vector */
  get size(): number {
    return this.#rows.size;
  }

  /** A vector of another length than the bundle's first one is left out. */
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

  stored(): Promise<void> {
    return Promise.resolve();
  }

  async vectorOf(id: string): Promise<SearchVector | undefined> {
    const place = this.#rows.get(id);
    if (place === undefined) return undefined;
    for (const [bundle, table] of this.#tables) {
      if (table === place.table) return { bundle, values: valuesOf(table, place.row) };
    }
    return undefined;
  }

  async nearest({ vector, given, filter, scope, most }: NearestQuery): Promise<Nearest> {
    const { bundle, values, least } = vector;
    const table = this.#tables.get(bundle);
    if (table === undefined || table.dimensions !== values.length) return { near: [], compared: 0 };
    const takes = takesOf(filter, scope);
    const near = new Map<Entry, Near>();
    for (const entry of given) {
      const place = this.#rows.get(entry.id);
      if (place?.table === table) near.set(entry, { entry, cosine: cosineOf(table, place.row, values) });
    }
    const others: Near[] = [];
    let compared = 0;
    // No object per row: there may be 100,000.
    for (let row = 0; row < table.entries.length; row++) {
      const entry = table.entries[row];
      if (entry === undefined || !takes(entry)) continue;
      compared++;
      const cosine = cosineOf(table, row, values);
      if (cosine >= least && !near.has(entry)) others.push({ entry, cosine });
    }
    return { near: nearestOf([...near.values()], others, most), compared };
  }
}

const valuesOf = ({ blocks, dimensions }: Table, row: number): Float32Array => {
  const start = (row % BLOCK_ROWS) * dimensions;
  return (blocks[Math.floor(row / BLOCK_ROWS)] as Float32Array).subarray(start, start + dimensions);
};

const cosineOf = ({ blocks, dimensions }: Table, row: number, query: Float32Array): number =>
  cosineAt(query, blocks[Math.floor(row / BLOCK_ROWS)] as Float32Array, (row % BLOCK_ROWS) * dimensions);
