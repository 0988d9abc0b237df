/** Form of the ids of cameras and zones, and patterns of them, as keys and endpoints name cameras. */

export const CAMERA_ID_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';

/** @param pattern an id; one that ends with '*' stands for all ids that begin with the rest */
export const matchesCamera = (pattern: string, camera: string): boolean =>
  pattern.endsWith('*') ? camera.startsWith(pattern.slice(0, -1)) : camera === pattern;
