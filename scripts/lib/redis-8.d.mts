/** Types of redis-8.mjs, for tests. */
export function findRedis8(): string[] | undefined;
