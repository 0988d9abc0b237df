/** Whether a value of JSON is an object: neither null nor an array. */
export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
