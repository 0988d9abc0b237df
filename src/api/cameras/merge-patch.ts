/** JSON merge patch (RFC 7396). Pure. */
import { isObject } from '../../base/is-object.js';

/** @returns the target with the members of the patch; null removes one, and an array replaces the earlier one */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map<string, unknown>(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
