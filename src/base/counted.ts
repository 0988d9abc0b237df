/** A number with its noun, for messages in English. */

/** @param many plural, if it is not the singular with an s. @returns e.g. '1 change', '2 changes' */
export const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;
