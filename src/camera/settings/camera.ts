/** A camera as it is stored: its settings, its reference frame and the mask of its privacy zones. */
import { derivedId } from '../../base/ids.js';
import type { PrivacyMask } from '../../base/privacy-mask.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import type { CameraSettings } from './settings.js';
import { privacyPolygons } from './zones.js';

export interface StoredCamera {
  readonly id: string;
  readonly settings: CameraSettings;
  /** frame of `before: reference`, masked; null: the next frame becomes it */
  readonly reference: StoredFrameRef | null;
  /** id of the privacy polygons, which changes whenever they do; null without any */
  readonly mask: string | null;
  /** login of the snapshot's address, encrypted (src/secrets/login.ts); absent: none */
  readonly login?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export const maskOf = ({ mask, settings }: StoredCamera): PrivacyMask | null =>
  mask === null ? null : { id: mask, polygons: privacyPolygons(settings.zones) };

/** The camera of a recording, which exists for the time of a run. */
export function recordedCamera(id: string, settings: CameraSettings): StoredCamera {
  const privacy = privacyPolygons(settings.zones);
  const epoch = new Date(0).toISOString();
  const mask = privacy.length === 0 ? null : derivedId('msk', 0, JSON.stringify(privacy));
  return { id, settings, reference: null, mask, created_at: epoch, updated_at: epoch };
}
