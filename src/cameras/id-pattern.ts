/** Patterns of camera ids, as keys and endpoints name cameras. */

/** @param pattern an id; one that ends with '*' stands for all ids that begin with the rest */
export const matchesCamera = (pattern: string, camera: string): boolean =>
  pattern.endsWith('*') ? camera.startsWith(pattern.slice(0, -1)) : camera === pattern;
