/**
 * Visibility of stored data to a request: everything, or what the API key's owner made and what belongs to the cameras
 * of the key. docs/access.md lists the routes.
 */
import { matchesCamera } from '../../camera/settings/id-pattern.js';

export type Visibility = 'everything' | KeyVisibility;

interface KeyVisibility {
  /** owner of the comparisons that the key made */
  readonly owner: string;
  /** ids of cameras; one that ends with '*' stands for all ids that begin with the rest */
  readonly cameras: readonly string[];
}

/** A form of CAMERA_ID_PATTERN with an optional '*' at the end. */
export const CAMERA_SCOPE_PATTERN = /^(?:\*|[A-Za-z0-9][A-Za-z0-9._-]{0,63}\*?)$/;

/** Whether the camera, with its frames and changes, is visible. */
export const seesCamera = (visibility: Visibility, camera: string): boolean =>
  visibility === 'everything' || visibility.cameras.some((pattern) => matchesCamera(pattern, camera));

/** Most indexes of cameras that are read instead of that of all. */
const FEW_CAMERAS = 32;

/**
 * @param asked of this camera alone; undefined: of all
 * @returns the visible cameras if they are known and few, so that the rest need not be read; else null
 */
export function fewCameras(visibility: Visibility, asked?: string): readonly string[] | null {
  if (asked !== undefined) return seesCamera(visibility, asked) ? [asked] : [];
  if (visibility === 'everything' || visibility.cameras.length > FEW_CAMERAS) return null;
  return visibility.cameras.some((pattern) => pattern.endsWith('*')) ? null : visibility.cameras;
}

/** @param of.owner undefined: the event is about no comparison, or about one without its owner */
export const seesComparison = (
  visibility: Visibility,
  of: { readonly owner: string | undefined; readonly camera: string | null },
): boolean =>
  visibility === 'everything' ||
  visibility.owner === of.owner ||
  (of.camera !== null && seesCamera(visibility, of.camera));
