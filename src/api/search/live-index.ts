/**
 * The search index of this API process. It is read from the stored changes once and then kept up to date by the log of
 * changes, before each search and every few seconds: an erased change also leaves the memory.
 */
import { setImmediate } from 'node:timers/promises';
import { within } from '../../base/within.js';
import type { Logger } from '../../process/logger.js';
import type { SearchFilter } from '../../search/scope.js';
import { SearchIndex, type SearchResult } from '../../search/search-index.js';
import type { QueryVector } from '../../search/vector-list.js';
import type { CameraStore } from '../../stores/cameras/cameras.js';
import type { ChangeLog } from '../../stores/changes/change-log.js';
import type { ChangeStore } from '../../stores/changes/changes.js';
import { allCameras } from '../cameras/labelled.js';

export interface LiveSearchResult extends SearchResult {
  /** false: the stored changes are still being read, the latest first */
  readonly complete: boolean;
}
export type LiveSearch = ReturnType<typeof createLiveSearch>;

const READ_AT_ONCE = 200;
/** Interval at which the index follows the log without a search. */
const FOLLOW_MS = 2_000;
/** Longest wait of a search for the first reading of the stored changes. */
const BUILD_WAIT_MS = 2_000;
/** Age at which the names of cameras and zones are read again. */
const NAMES_MS = 10_000;

export function createLiveSearch(
  stores: {
    readonly changes: Pick<ChangeStore, 'list' | 'many' | 'vectors'>;
    readonly changeLog: ChangeLog;
    readonly cameras: Pick<CameraStore, 'list'>;
  },
  options: { readonly most: number; readonly clock: () => number; readonly logger: Logger },
) {
  const index = new SearchIndex(options.most);
  let position: string | undefined;
  let building: Promise<void> | undefined;
  let catchingUp: Promise<void> | undefined;
  let namesAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  /** Changes that are written meanwhile are in the log after the mark, so that none is missed. */
  const build = async () => {
    const mark = await stores.changeLog.mark();
    const begun = options.clock();
    index.clear();
    let cursor: string | undefined;
    do {
      const page = await stores.changes.list({ limit: READ_AT_ONCE, ...(cursor === undefined ? {} : { cursor }) });
      const vectors = await stores.changes.vectors(page.items.map(({ id }) => id));
      for (const [i, change] of page.items.entries()) index.put(change, vectors[i]);
      cursor = page.nextCursor ?? undefined;
      await setImmediate();
    } while (cursor !== undefined && index.size < options.most && !closed);
    position = mark;
    options.logger.info({ changes: index.size, ms: options.clock() - begun }, 'search index read');
  };
  const startBuilding = () => {
    building ??= build().finally(() => {
      building = undefined;
    });
    return building;
  };

  const followLog = async () => {
    for (let more = true; more && position !== undefined && !closed; ) {
      const read = await stores.changeLog.after(position);
      if (read === undefined) {
        position = undefined;
        return;
      }
      const ids = [...new Set(read.ids)];
      for (let from = 0; from < ids.length; from += READ_AT_ONCE) {
        const part = ids.slice(from, from + READ_AT_ONCE);
        const [changes, vectors] = await Promise.all([stores.changes.many(part), stores.changes.vectors(part)]);
        for (const [i, change] of changes.entries()) {
          if (change === undefined) index.remove(part[i] as string);
          else index.put(change, vectors[i]);
        }
      }
      ({ position, more } = read);
    }
  };
  /** @returns whether the index holds all stored changes, those of the last moment included */
  const catchUp = async (): Promise<boolean> => {
    if (position !== undefined) {
      catchingUp ??= followLog().finally(() => {
        catchingUp = undefined;
      });
      await catchingUp;
    }
    if (position !== undefined) return true;
    const built = startBuilding().then(() => true);
    return within(BUILD_WAIT_MS, built, false);
  };

  const readNames = async () => {
    if (options.clock() - namesAt < NAMES_MS) return;
    namesAt = options.clock();
    const names = new Map<string, (string | null)[]>();
    for (const { id, settings } of await allCameras(stores.cameras, 'everything')) {
      names.set(JSON.stringify([id]), [settings.name]);
      for (const zone of settings.zones) names.set(JSON.stringify([id, zone.id]), [zone.name]);
    }
    index.setNames((camera, zone) => {
      const ids = zone === null ? [camera] : [camera, zone];
      const places = [names.get(JSON.stringify([camera])), names.get(JSON.stringify([camera, zone]))];
      return [...ids, ...places.flat().filter((name) => name != null)];
    });
  };

  return {
    /**
     * @param text as it was typed
     * @param vectorOf the vector of the query by the index, which is up to date then; absent: words alone
     * @throws ScenedeltaError 'queue-unavailable' if Redis is away
     */
    search: async (
      text: string,
      filter: SearchFilter,
      vectorOf?: (index: Pick<SearchIndex, 'vectorOf'>) => Promise<QueryVector | undefined>,
    ): Promise<LiveSearchResult> => {
      const complete = await catchUp();
      await readNames();
      const vector = await vectorOf?.(index);
      return { ...index.search(text, filter, vector), complete };
    },
    /** Drops changes that expired without a worker to erase them. */
    drop: (ids: readonly string[]): void => {
      for (const id of ids) index.remove(id);
    },
    start: (): void => {
      const follow = () => {
        catchUp()
          .catch((err: Error) => options.logger.debug({ reason: err.message }, 'search index behind'))
          .finally(() => {
            if (!closed) timer = setTimeout(follow, FOLLOW_MS).unref();
          });
      };
      follow();
    },
    close: async (): Promise<void> => {
      closed = true;
      clearTimeout(timer);
    },
  };
}
