/** Reading and altering cameras. */
import { ApiError, api, frameAddress, ok } from '../api/client.js';
import { PAGE, readPages } from '../api/pages.js';
import type { Camera, Side } from '../api/types.js';
import { t } from '../texts/texts.js';

export type Order = 'state' | 'id';

/** @param pages most pages that are read. @returns the cameras with their overviews, and whether there are more */
export const listCameras = (
  query: { readonly q: string; readonly label?: string; readonly sort: Order },
  pages: number,
) =>
  readPages(
    (page) => ok(api.GET('/v1/cameras', { params: { query: { ...query, ...page, overview: 'true' } } })),
    pages,
  );

export const readCamera = (id: string): Promise<Camera> =>
  ok(api.GET('/v1/cameras/{id}', { params: { path: { id } } }));

/**
 * @param size small: for lists
 * @param side after: the camera's last frame
 * @returns the path of a frame of the last comparison; null: there is none
 */
export function pictureOf({ overview }: Camera, size: 'full' | 'small', side: Side = 'after'): string | null {
  const comparison = overview?.comparison ?? null;
  return comparison === null ? null : frameAddress(comparison, side, size);
}

export type Settings = Omit<
  Camera,
  'id' | 'reference' | 'created_at' | 'updated_at' | 'false_alarm_budget' | 'status' | 'overview' | 'reset'
>;

/** The latest sentence about a camera. */
export interface LastSentence {
  readonly caption: string;
  readonly at: string;
}

/** @returns that of its latest change, or of its latest visit if the visit came or went later; null: it has neither */
export async function lastSentenceOf(camera: string): Promise<LastSentence | null> {
  const params = { query: { camera, limit: 1 } };
  const [changes, visits] = await Promise.all([
    ok(api.GET('/v1/changes', { params })),
    ok(api.GET('/v1/visits', { params })),
  ]);
  const ofChanges = changes.items.map((one) => ({
    caption: one.feedback?.caption ?? one.ended?.caption ?? one.caption,
    at: one.reverted_at ?? one.confirmed_at,
  }));
  const ofVisits = visits.items.map((one) => ({
    caption: one.caption,
    at: one.status === 'open' ? one.first_seen : one.last_seen,
  }));
  return [...ofChanges, ...ofVisits].sort((a, b) => Date.parse(b.at) - Date.parse(a.at))[0] ?? null;
}

/** @returns all settings of the camera with those of `part`, for requests that take all of them */
export function withSettings(camera: Camera, part: Partial<Settings>): Settings {
  const { id: _i, reference: _r, created_at: _c, updated_at: _u, false_alarm_budget: _a, ...rest } = camera;
  const { status: _s, overview: _o, reset: _e, ...settings } = rest;
  return { ...settings, ...part };
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns the members of `edited` that differ from those that are known: the merge patch from these to those */
export function patchOf(known: object, edited: object): object {
  const before = new Map<string, unknown>(Object.entries(known));
  const changed = Object.entries(edited).flatMap(([name, value]) => {
    const earlier = before.get(name);
    if (JSON.stringify(earlier) === JSON.stringify(value)) return [];
    if (!isObject(earlier) || !isObject(value)) return [[name, value]];
    const part = patchOf(earlier, value);
    return Object.keys(part).length === 0 ? [] : [[name, part]];
  });
  return Object.fromEntries(changed);
}

/** @param part the settings that change. @returns the stored camera */
export const saveCamera = (id: string, part: object): Promise<Camera> =>
  ok(api.PATCH('/v1/cameras/{id}', { params: { path: { id } }, body: part as never }));

/** Sets the labels of all these cameras instead of theirs. */
export async function labelCameras(ids: readonly string[], labels: readonly string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += PAGE) {
    const body = { cameras: ids.slice(from, from + PAGE), patch: { labels } };
    await ok(api.PATCH('/v1/cameras', { body: body as never }));
  }
}

/** @returns the labels that cameras have, each once, in order */
export const labelsOf = (cameras: readonly Pick<Camera, 'labels'>[]): string[] =>
  [...new Set(cameras.flatMap(({ labels }) => labels))].sort();

/** @returns the labels in a text, separated by commas */
export const labelsIn = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((label) => label.trim())
      .filter(Boolean),
  ),
];

/** @throws ApiError if there is a camera of this id */
export async function createCamera(id: string, settings: object): Promise<void> {
  const path = { id };
  const { response } = await api.GET('/v1/cameras/{id}', { params: { path } });
  if (response.ok) throw new ApiError(409, t('There is a camera {id} already.', { id }));
  await ok(api.PUT('/v1/cameras/{id}', { params: { path }, body: settings as never }));
}

export const deleteCamera = (id: string): Promise<unknown> =>
  ok(api.DELETE('/v1/cameras/{id}', { params: { path: { id } } }));
