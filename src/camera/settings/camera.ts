/** A camera as it is stored: its settings, its reference frame and the mask of its privacy zones. */
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
