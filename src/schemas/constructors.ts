/** Constructors of schemas that TypeBox has no short form for. */
import { type TSchema, type TSchemaOptions, Type } from 'typebox';

/** The description of a schema, or several keywords of JSON Schema. */
type Keywords = string | TSchemaOptions;
const keywords = (given: Keywords): TSchemaOptions => (typeof given === 'string' ? { description: given } : given);

/** One of the given strings, as `enum`: a union of literals would be an `anyOf` in OpenAPI. */
export const literals = <const T extends readonly string[]>(values: T, given: Keywords = {}) =>
  Type.Unsafe<T[number]>(Type.String({ enum: [...values], ...keywords(given) }));

export const nullable = <T extends TSchema>(schema: T, given: Keywords = {}) =>
  Type.Union([schema, Type.Null()], keywords(given));

/** A number from 0 to 1: a probability, a share, or a fraction of the frame. */
export const unit = (given: Keywords = {}) => Type.Number({ minimum: 0, maximum: 1, ...keywords(given) });

/** Share of the things said that must be true: the setting TRUTH for one request or camera. */
export const truthShare = (given: Keywords = {}) => Type.Number({ minimum: 0.5, maximum: 0.99, ...keywords(given) });

/** A time in the form of RFC 3339. */
export const dateTime = (given: Keywords = {}) => Type.String({ format: 'date-time', ...keywords(given) });

export const text = (description: string) => Type.String({ description });
export const flag = (description: string) => Type.Boolean({ description });
export const count = (description: string) => Type.Integer({ minimum: 0, description });
