/** The camera of a recording. */
import { derivedId } from '../../base/ids.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import { privacyPolygons } from '../../camera/settings/zones.js';

/** A camera that exists for the time of a run. */
export function recordedCamera(id: string, settings: CameraSettings): StoredCamera {
  const privacy = privacyPolygons(settings.zones);
  const epoch = new Date(0).toISOString();
  const mask = privacy.length === 0 ? null : derivedId('msk', 0, JSON.stringify(privacy));
  return { id, settings, reference: null, mask, created_at: epoch, updated_at: epoch };
}
