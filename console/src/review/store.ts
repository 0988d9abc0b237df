/** The changes of the service: read when they are looked at, and kept up to date by the live events. */
import { computed, signal } from '@preact/signals';
import { ApiError, api, ok } from '../api/client.js';
import type { LiveEvent } from '../api/events.js';
import { type PageQuery, readCameras } from '../api/pages.js';
import type { Camera, Change } from '../api/types.js';
import type { ListQuery } from './filter.js';
import { listingOf } from './listing.js';

/** By id. The map is replaced whenever it changes. */
export const changes = signal<ReadonlyMap<string, Change>>(new Map());
export const cameras = signal<readonly Camera[]>([]);

export const byTime = computed(() =>
  [...changes.value.values()].sort((a, b) => (a.confirmed_at < b.confirmed_at ? 1 : -1)),
);

/** Whether the camera has the label; '' is that of all. */
export const hasLabel = (camera: string, label: string): boolean =>
  label === '' || (cameras.value.find(({ id }) => id === camera)?.labels.includes(label) ?? false);

/** The name of a camera for people; its id without one. */
export const cameraName = (camera: string): string => cameras.value.find(({ id }) => id === camera)?.name ?? camera;

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

/** The changes of the filter. Changes that were read by other ways are kept beside them. */
export const listing = listingOf(
  (query: ListQuery & PageQuery) => ok(api.GET('/v1/changes', { params: { query } })),
  ({ confirmed_at }: Change) => confirmed_at,
  put,
);

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

export function onLiveEvent({ subject: { kind, id } }: LiveEvent): void {
  if (kind !== 'change' || asked.has(id)) return;
  asked.add(id);
  setTimeout(() => {
    asked.delete(id);
    void loadChange(id).catch(() => undefined);
  }, ASK_AFTER_MS);
}
