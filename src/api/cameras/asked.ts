/** The cameras that a request asks for: one by its id, or a page of all, and of those with a label. */
import type { StoredCamera } from '../../camera/settings/camera.js';
import type { CameraStore } from '../../stores/cameras/cameras.js';
import { seesCamera, type Visibility } from '../../stores/redis/visibility.js';
import { parsePageQuery } from '../schemas/pages.js';
import { labelled } from './labelled.js';
import { findCamera } from './present.js';

/**
 * @param query.camera the one that is asked for; absent: a page of all
 * @throws ScenedeltaError 'not-found' for a camera that does not exist or may not be seen
 */
export async function askedCameras(
  { camera, label, ...page }: { camera?: string; label?: string; cursor?: string; limit?: number },
  seen: Visibility,
  { cameras }: { readonly cameras: Pick<CameraStore, 'list' | 'get'> },
): Promise<{ items: StoredCamera[]; nextCursor: string | null }> {
  const visibility = await labelled(label, seen, cameras);
  if (camera === undefined) return cameras.list({ ...parsePageQuery(page), visibility });
  const found = await findCamera({ cameras }, camera, seen);
  return { items: seesCamera(visibility, camera) ? [found] : [], nextCursor: null };
}
