/** Cameras with their latest comparison and the state that follows from it. */

import { signal } from '@preact/signals';
import { type HealthState, stateOf } from '../../../src/cameras/health.js';
import { systemClock } from '../../../src/clock.js';
import { ApiError, api, localPath, ok } from '../api/client.js';
import { readCameras } from '../api/pages.js';
import type { Camera, Comparison } from '../api/types.js';
import { shownTime } from '../ui/format.js';

export interface Overview {
  readonly camera: Camera;
  /** the latest frame; null: none is kept */
  readonly picture: string | null;
  readonly state: HealthState;
  /** a sentence about the state */
  readonly detail: string;
}

export const overviews = signal<readonly Overview[] | null>(null);

const AT_ONCE = 6;

export async function loadOverviews(): Promise<void> {
  const items = await readCameras();
  const known = new Map(overviews.peek()?.map((one) => [one.camera.id, one]));
  overviews.value = items.map((camera) => ({ ...(known.get(camera.id) ?? unknown(camera)), camera }));
  const waiting = items.map(({ id }) => id);
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await refresh(id);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

const unknown = (camera: Camera): Overview => ({ camera, picture: null, state: 'no_frame_yet', detail: 'Reading …' });

/** Reads one camera again. A camera that has been erased leaves the list. */
export async function refresh(id: string): Promise<void> {
  let read: Overview | undefined;
  try {
    read = await readOverview(id);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
  const others = (overviews.peek() ?? []).filter(({ camera }) => camera.id !== id);
  const all = read === undefined ? others : [...others, read];
  overviews.value = all.sort((a, b) => (a.camera.id < b.camera.id ? -1 : 1));
}

async function readOverview(id: string): Promise<Overview> {
  const [camera, comparison] = await Promise.all([
    ok(api.GET('/v1/cameras/{id}', { params: { path: { id } } })),
    latestOf(id),
  ]);
  return { camera, picture: pictureOf(comparison), ...healthOf(camera, comparison, systemClock()) };
}

async function latestOf(camera: string): Promise<Comparison | undefined> {
  return (await ok(api.GET('/v1/comparisons', { params: { query: { camera, limit: 1 } } }))).items[0];
}

function pictureOf(comparison: Comparison | undefined): string | null {
  const link = comparison?.frames?.after.url;
  return link === undefined ? null : localPath(link);
}

/** @returns the path of the camera's last frame; null: none is kept */
export const lastPicture = async (camera: string): Promise<string | null> => pictureOf(await latestOf(camera));

/** @param now epoch ms */
function healthOf(
  { status }: Pick<Camera, 'status'>,
  comparison: Comparison | undefined,
  now: number,
): Pick<Overview, 'state' | 'detail'> {
  const { viewpoint, tamper, caption = '' } = comparison ?? {};
  const hasMoved = viewpoint !== undefined && 'moved' in viewpoint && viewpoint.moved;
  const seen = tamper?.[0]?.name ?? null;
  const state = stateOf(
    {
      lastFrameAt: status?.last_frame_at == null ? null : Date.parse(status.last_frame_at),
      intervalMs: status?.interval_s == null ? null : status.interval_s * 1000,
      tamper: seen ?? (hasMoved ? 'turned' : null),
      frozen: status?.frozen_since != null,
      lost: status?.signal_lost_since != null,
    },
    now,
  );
  const error = status?.snapshot?.error;
  if (state === 'no_frame_yet') return { state, detail: error ?? 'No frame yet.' };
  if (state === 'no_frames') return { state, detail: error ?? 'No frame for longer than usual.' };
  if (state === 'moved' && seen === null) return { state, detail: 'The camera points in another direction.' };
  if (state === 'stuck') {
    return { state, detail: `It has sent the same picture since ${shownTime(status?.frozen_since ?? '')}.` };
  }
  return { state, detail: caption };
}

export type Settings = Omit<Camera, 'id' | 'reference' | 'created_at' | 'updated_at' | 'alarm_budget' | 'status'>;

/** @returns all settings of the camera with those of `part`, because settings replace the earlier ones as a whole */
export function withSettings(camera: Camera, part: Partial<Settings>): Settings {
  const { id: _i, reference: _r, created_at: _c, updated_at: _u, alarm_budget: _a, status: _s, ...settings } = camera;
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
    return [[name, isObject(earlier) && isObject(value) ? patchOf(earlier, value) : value]];
  });
  return Object.fromEntries(changed);
}

/** @param part the settings that change. @returns the stored camera */
export async function saveCamera(id: string, part: object): Promise<Camera> {
  const saved = await ok(api.PATCH('/v1/cameras/{id}', { params: { path: { id } }, body: part as never }));
  await refresh(id);
  return saved;
}

/** @throws ApiError if there is a camera of this id */
export async function createCamera(id: string, settings: object): Promise<void> {
  const path = { id };
  const { response } = await api.GET('/v1/cameras/{id}', { params: { path } });
  if (response.ok) throw new ApiError(409, `There is a camera ${id} already.`);
  await ok(api.PUT('/v1/cameras/{id}', { params: { path }, body: settings as never }));
  await refresh(id);
}

export async function deleteCamera(id: string): Promise<void> {
  await ok(api.DELETE('/v1/cameras/{id}', { params: { path: { id } } }));
  await refresh(id);
}
