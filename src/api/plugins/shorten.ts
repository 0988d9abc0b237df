/** Shorter spellings of the OpenAPI document with the same meaning. */

/**
 * Leaves out `required: false` of parameters, which is the default and replaces `anyOf: [{type: string}, {type: null}]`
 * by `type: [string, null]`: of the keywords of a type only `const` and `enum` restrict null. In place.
 */
export function shorten<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) shorten(part);
  const schema = value as Record<string, unknown>;
  if (schema.in !== undefined && schema.required === false) delete schema.required;
  const [given, none, ...others] = Array.isArray(schema.anyOf) ? (schema.anyOf as Record<string, unknown>[]) : [];
  if (others.length > 0 || none?.type !== 'null' || typeof given?.type !== 'string') return value;
  if ('const' in given) return value;
  const { anyOf: _anyOf, ...rest } = schema;
  for (const key of Object.keys(schema)) delete schema[key];
  const values = Array.isArray(given.enum) ? { enum: [...given.enum, null] } : {};
  Object.assign(schema, given, values, { type: [given.type, 'null'] }, rest);
  return value;
}
