/** Schemas of what a request gives, from the schemas of what is stored. */
import { type TProperties, type TSchema, Type } from 'typebox';

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

/**
 * @returns the schema of a JSON merge patch (RFC 7396) of what the schema describes: every member, at any depth, may be
 *   absent or null, and arrays replace the earlier ones. Its members have no descriptions: they are in the schema.
 */
export function mergePatchOf(schema: TSchema): TSchema {
  const { properties, anyOf } = schema as { properties?: TProperties; anyOf?: TSchema[] };
  const {
    $id: _id,
    default: _default,
    required: _required,
    description: _text,
    ...rest
  } = schema as Record<string, unknown>;
  if (anyOf !== undefined) return { ...rest, anyOf: anyOf.map(mergePatchOf) } as TSchema;
  if (properties === undefined) return rest as TSchema;
  const orNull = (member: TSchema) =>
    'anyOf' in member ? mergePatchOf(member) : Type.Union([mergePatchOf(member), Type.Null()]);
  const members = Object.entries(properties).map(([name, member]) => [name, orNull(member)]);
  return { ...rest, properties: Object.fromEntries(members) } as TSchema;
}
