/** @param at epoch ms @returns RFC 3339 in UTC */
export const isoTime = (at: number): string => new Date(at).toISOString();
