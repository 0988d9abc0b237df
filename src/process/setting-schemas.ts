/**
 * Constructors of the schemas of settings (type, range, default and meaning of one environment variable each), and the
 * text of a variable as such a value.
 */
import { type TSchema, Type } from 'typebox';

export const text = (fallback: string, description: string) => Type.String({ default: fallback, description });
export const optionalText = (description: string) =>
  Type.Unsafe<string | null>(Type.String({ default: null, description }));
/** An http(s) address; null: none is set. */
export const httpAddress = (description: string) =>
  Type.Unsafe<string | null>(
    Type.String({
      pattern: '^https?://[^\\s/?#]+(/[^\\s?#]*)?$',
      title: 'an http(s) address without a query',
      default: null,
      description,
    }),
  );
/** An HTTP proxy; null: none is set. */
export const proxyAddress = (description: string) =>
  Type.Unsafe<string | null>(
    Type.String({
      pattern: '^(https?://)?[^\\s/?#]+/?$',
      title: 'the http(s) address of a proxy, http://host:port',
      default: null,
      description,
    }),
  );
export const list = (description: string) =>
  Type.Unsafe<readonly string[]>(Type.Array(Type.String(), { default: [], description }));
/** Texts of one pattern; `title` says in messages what is expected. */
export const listOf = (pattern: string, title: string, description: string) =>
  Type.Unsafe<readonly string[]>(Type.Array(Type.String({ pattern }), { default: [], title, description }));
export const flag = (fallback: boolean, description: string) => Type.Boolean({ default: fallback, description });
export const oneOf = <const T extends string>(values: readonly T[], fallback: NoInfer<T>, description: string) =>
  Type.Unsafe<T>(Type.String({ enum: [...values], default: fallback, description }));
export const integer = (minimum: number, maximum: number, fallback: number, description: string) =>
  Type.Integer({ minimum, maximum, default: fallback, description });
export const share = (fallback: number, description: string) =>
  Type.Number({ minimum: 0, maximum: 1, default: fallback, description });
/** The keywords of the schemas of this file. */
export interface SettingSchema extends TSchema {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'array';
  readonly default: unknown;
  readonly description: string;
  readonly title?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

// env-schema is not used: Ajv coerces '1e3', '0x10' and ' 8' to integers, its messages do not quote the value, and
// lists and on/off would need custom keywords. With these exceptions it was longer than this function.
/** @returns the value that the text stands for; the text itself if it stands for no value of the schema's type. */
export function coerced(given: string, { type }: SettingSchema): unknown {
  if (type === 'integer') return /^\d{1,15}$/.test(given) ? Number(given) : given;
  if (type === 'number') return /^\d{1,9}(?:\.\d{1,9})?$/.test(given) ? Number(given) : given;
  if (type === 'boolean')
    return /^(1|true|on|yes)$/i.test(given) || (/^(0|false|off|no)$/i.test(given) ? false : given);
  if (type === 'array')
    return given
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean);
  return given;
}

/** @returns the expectation, e.g. 'an integer from 1 to 64'; also the column "type" of the published table */
export function expectation({ type, title, enum: values, minimum, maximum }: SettingSchema): string {
  if (title !== undefined) return title;
  if (values !== undefined) return `one of ${values.join(', ')}`;
  if (type === 'integer') return `an integer from ${minimum} to ${maximum}`;
  if (type === 'number') return `a number from ${minimum} to ${maximum}`;
  return { string: 'text', boolean: 'on or off', array: 'a list' }[type];
}
