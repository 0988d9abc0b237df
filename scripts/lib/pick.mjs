/** Draws one element of a list. */
export const pick = (list, random) => list[Math.min(list.length - 1, Math.floor(random.uniform(0, list.length)))];
