/** The changes of the service: read page by page, the latest first, and kept up to date by the live events. */
import { computed, signal } from '@preact/signals';
import { ApiError, api, messageOf, ok } from '../api/client.js';
import type { LiveEvent } from '../api/events.js';
import { PAGE, readCameras } from '../api/pages.js';
import type { Camera, Change } from '../api/types.js';

/** Changes that are kept in the page; earlier ones are read when a day is chosen. */
const MOST = 10_000;

/** By id. The map is replaced whenever it changes. */
export const changes = signal<ReadonlyMap<string, Change>>(new Map());
export const loading = signal(false);
export const loadFault = signal('');
export const cameras = signal<readonly Camera[]>([]);

export const byTime = computed(() =>
  [...changes.value.values()].sort((a, b) => (a.confirmed_at < b.confirmed_at ? 1 : -1)),
);

/** Zone ids and their names for people, per camera. */
export function zoneName(camera: string, zone: string | null): string {
  if (zone === null) return '';
  const zones = cameras.value.find(({ id }) => id === camera)?.zones ?? [];
  return zones.find(({ id }) => id === zone)?.name ?? zone;
}

const put = (found: readonly Change[]): void => {
  const next = new Map(changes.peek());
  for (const change of found) next.set(change.id, change);
  changes.value = next;
};

let run = 0;

/** Reads the changes of a time span, or the latest ones. Changes that were read earlier stay. */
export async function loadChanges(span: { since?: string; until?: string } = {}): Promise<void> {
  const started = ++run;
  loading.value = true;
  loadFault.value = '';
  try {
    let cursor: string | undefined;
    for (let read = 0; read < MOST && started === run; read += PAGE) {
      const query = { limit: PAGE, ...span, ...(cursor === undefined ? {} : { cursor }) };
      const page = await ok(api.GET('/v1/changes', { params: { query } }));
      put(page.items);
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
  } catch (error) {
    if (started === run) loadFault.value = messageOf(error);
  } finally {
    if (started === run) loading.value = false;
  }
}

export async function loadCameras(): Promise<void> {
  cameras.value = await readCameras();
}

/** @returns undefined if there is no such change */
export async function loadChange(id: string): Promise<Change | undefined> {
  try {
    const change = await ok(api.GET('/v1/changes/{id}', { params: { path: { id } } }));
    put([change]);
    return change;
  } catch (error) {
    if (error instanceof ApiError && [400, 404].includes(error.status)) return undefined;
    throw error;
  }
}

export const keepChange = (change: Change): void => put([change]);

/** Many events of one change at a time lead to one request. */
const asked = new Set<string>();
const ASK_AFTER_MS = 150;

export function onLiveEvent({ change }: LiveEvent): void {
  if (change === undefined || asked.has(change)) return;
  asked.add(change);
  setTimeout(() => {
    asked.delete(change);
    void loadChange(change).catch(() => undefined);
  }, ASK_AFTER_MS);
}
