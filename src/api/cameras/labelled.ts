/** All cameras that a request may see, and those of a label, as the visibility of the request. */
import { Type } from 'typebox';
import type { StoredCamera } from '../../camera/settings/camera.js';
import type { CameraStore } from '../../stores/cameras/cameras.js';
import type { Visibility } from '../../stores/redis/visibility.js';

type Cameras = Pick<CameraStore, 'list'>;
const AT_ONCE = 100;

export const labelQuery = {
  label: Type.Optional(Type.String({ maxLength: 64, description: 'Only of cameras with this label.' })),
};

/** @returns ordered by id */
export async function allCameras(cameras: Cameras, visibility: Visibility): Promise<StoredCamera[]> {
  const found: StoredCamera[] = [];
  let cursor: string | undefined;
  do {
    const page = await cameras.list({ visibility, limit: AT_ONCE, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...page.items);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

/** @returns the part of the visibility that is the cameras of the label; undefined: all of it */
export async function labelled(
  label: string | undefined,
  visibility: Visibility,
  cameras: Cameras,
): Promise<Visibility> {
  if (label === undefined) return visibility;
  const found = (await allCameras(cameras, visibility)).filter(({ settings }) => settings.labels?.includes(label));
  return { owner: visibility === 'everything' ? '' : visibility.owner, cameras: found.map(({ id }) => id) };
}
