/** Dependencies of which a test implements a part. */

/** The same members, of which each may implement a part; a method that is missing is a TypeError at its call. */
export type Parts<T> = { [K in keyof T]?: Partial<T[K]> };

/** @returns the parts, as the code under test sees them */
export const partial = <T>(parts: Parts<T>): T => parts as T;
