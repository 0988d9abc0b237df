/** Lists of the service, which come in pages. */
import { api, ok } from './client.js';
import type { Camera } from './types.js';

export interface Page<T> {
  readonly items: readonly T[];
  /** null: this is the last page */
  readonly next_cursor: string | null;
}
export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string;
}

/** Largest page that the service gives. */
export const PAGE = 100;

/**
 * @param read reads the page after the cursor
 * @param most pages that are read; default: all
 * @returns the items of the pages, and whether there are more
 */
export async function readPages<T>(
  read: (query: PageQuery) => Promise<Page<T>>,
  most = Number.POSITIVE_INFINITY,
): Promise<{ readonly items: T[]; readonly more: boolean }> {
  const items: T[] = [];
  let cursor: string | null | undefined;
  for (let pages = 0; pages < most && cursor !== null; pages++) {
    const page = await read({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return { items, more: cursor !== null };
}

/** @returns all cameras of the key. @throws ApiError */
export const readCameras = async (): Promise<Camera[]> =>
  (await readPages((query) => ok(api.GET('/v1/cameras', { params: { query } })))).items;
