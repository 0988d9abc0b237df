/** Settings that a PUT of a camera resets without naming them. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../is-object.js';

/**
 * @param given settings of the request
 * @param before settings of the camera before it
 * @param after settings with their defaults filled in
 * @returns paths of the settings that the request lacks and whose value has changed, as 'alerts.persist_s'
 */
export function resetSettings(given: object, before: object, after: object): string[] {
  const sent = new Map<string, unknown>(Object.entries(given));
  const earlier = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after).flatMap(([name, value]) => {
    const [wanted, known] = [sent.get(name), earlier.get(name)];
    if (isDeepStrictEqual(known, value)) return [];
    if (wanted === undefined) return [name];
    if (!isObject(wanted) || !isObject(known) || !isObject(value)) return [];
    return resetSettings(wanted, known, value).map((inner) => `${name}.${inner}`);
  });
}
