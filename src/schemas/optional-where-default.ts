/** Schemas of what a request gives, from the schemas of what is stored. */
import type { TProperties, TSchema } from 'typebox';

export type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T;

/** @returns the schema with every member optional that has a default, at any depth, and without its name */
export function optionalWhereDefault(schema: TSchema): TSchema {
  const { properties, required, items, anyOf } = schema as {
    properties?: TProperties;
    required?: readonly string[];
    items?: TSchema;
    anyOf?: TSchema[];
  };
  const rest = { ...schema } as Record<string, unknown>;
  // The components of the two schemas differ in their required members, so the copy needs another name.
  delete rest.$id;
  if (items !== undefined && !Array.isArray(items)) rest.items = optionalWhereDefault(items);
  if (anyOf !== undefined) rest.anyOf = anyOf.map(optionalWhereDefault);
  if (properties !== undefined) {
    rest.properties = Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, optionalWhereDefault(property)]),
    );
    const needed = (required ?? []).filter((name) => !('default' in (properties[name] as object)));
    delete rest.required;
    if (needed.length > 0) rest.required = needed;
  }
  return rest as TSchema;
}
