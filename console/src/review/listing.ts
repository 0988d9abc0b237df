/** One list of the service, read page by page, the latest first, as far down as the reader looks. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { messageOf } from '../api/client.js';
import { PAGE, type Page, type PageQuery } from '../api/pages.js';

/** A time after all times, as text that is compared with ISO 8601. */
const NOTHING_READ = '~';

export interface Listing<Q> {
  /** Items of the query from this time on have been read: `''` if all of them. */
  readonly reached: ReadonlySignal<string>;
  readonly isReading: ReadonlySignal<boolean>;
  readonly fault: ReadonlySignal<string>;
  /** Restarts at the latest item. */
  start(query: Q): Promise<void>;
  /** Reads the next page unless one is being read, or the last reading failed. */
  more(): Promise<void>;
}

/** @param keep is given the items of each page */
export function listingOf<T, Q>(
  read: (query: Q & PageQuery) => Promise<Page<T>>,
  timeOf: (item: T) => string,
  keep: (items: readonly T[]) => void,
): Listing<Q> {
  const reached = signal(NOTHING_READ);
  const isReading = signal(false);
  const fault = signal('');
  let asked: Q | undefined;
  let cursor: string | undefined;
  let run = 0;
  const readPage = async (query: Q) => {
    const started = ++run;
    isReading.value = true;
    fault.value = '';
    try {
      const page = await read({ ...query, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
      if (started !== run) return;
      keep(page.items);
      const isFirst = cursor === undefined;
      cursor = page.next_cursor ?? undefined;
      const last = page.items.at(-1);
      if (page.next_cursor === null) reached.value = '';
      else if (last !== undefined) reached.value = timeOf(last);
      else if (isFirst) reached.value = NOTHING_READ;
    } catch (error) {
      if (started === run) fault.value = messageOf(error);
    } finally {
      if (started === run) isReading.value = false;
    }
  };
  return {
    reached,
    isReading,
    fault,
    start(query) {
      asked = query;
      cursor = undefined;
      return readPage(query);
    },
    async more() {
      if (asked === undefined || isReading.peek() || fault.peek() !== '' || reached.peek() === '') return;
      await readPage(asked);
    },
  };
}
