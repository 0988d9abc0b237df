/** Constructors of the schemas of settings: type, range, default and meaning of one environment variable each. */
import { Type } from 'typebox';

export const text = (fallback: string, description: string) => Type.String({ default: fallback, description });
export const optionalText = (description: string) =>
  Type.Unsafe<string | null>(Type.String({ default: null, description }));
/** An http(s) address; null: none is set. */
export const httpAddress = (description: string) =>
  Type.Unsafe<string | null>(
    Type.String({
      pattern: '^https?://[^\\s/?#]+(/[^\\s?#]*)?$',
      title: 'an http(s) address without a query',
      ...{ default: null, description },
    }),
  );
export const list = (description: string) =>
  Type.Unsafe<readonly string[]>(Type.Array(Type.String(), { default: [], description }));
export const flag = (fallback: boolean, description: string) => Type.Boolean({ default: fallback, description });
export const oneOf = <const T extends string>(values: readonly T[], fallback: NoInfer<T>, description: string) =>
  Type.Unsafe<T>(Type.String({ enum: [...values], default: fallback, description }));
export const integer = (minimum: number, maximum: number, fallback: number, description: string) =>
  Type.Integer({ minimum, maximum, default: fallback, description });
export const share = (fallback: number, description: string) =>
  Type.Number({ minimum: 0, maximum: 1, default: fallback, description });
/** MQTT forbids '+', '#' and NUL in the topic of a message; empty levels are allowed but confuse. */
export const topic = (fallback: string, description: string) =>
  Type.String({
    pattern: '^[^+#/\\s\\u0000]+(/[^+#/\\s\\u0000]+)*$',
    maxLength: 128,
    title: 'an MQTT topic of at most 128 characters without +, #, spaces, and / at an end',
    default: fallback,
    description,
  });
