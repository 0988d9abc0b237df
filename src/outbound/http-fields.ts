/** Header lines and lengths of answers of cameras, and of the parts in them, read leniently. */
import type { ScenedeltaError } from '../base/errors.js';
import { jpegStart } from '../base/image-type.js';
import type { ByteSource } from './byte-source.js';

const FIELD_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
export const JPEG_END = Buffer.from([0xff, 0xd9]);
/** Bytes that some cameras add behind the end of a JPEG. */
const PADDING = 4096;

/** Header lines by name in lower case. */
export type Fields = ReadonlyMap<string, readonly string[]>;

/** The bytes that an answer has for a picture. */
export interface Picture {
  readonly bytes: Buffer;
  /** false: the connection was closed before its end */
  readonly complete: boolean;
}

export interface Limits {
  /** of a picture, also after its decompression */
  readonly maxBytes: number;
  /** @returns the error of an answer that has more bytes */
  readonly tooLarge: () => Error;
  /** @param why predicate of a sentence whose subject is the camera, e.g. 'sent no HTTP' */
  readonly failed: (why: string) => ScenedeltaError;
}

/**
 * Reads header lines up to an empty one. Lines that have no name are skipped.
 * @param limit bytes of all lines
 */
export async function readFields(
  source: ByteSource,
  limit: number,
): Promise<{ fields: Fields; bytes: number } | 'too long' | 'ended'> {
  const fields = new Map<string, string[]>();
  let bytes = 0;
  for (;;) {
    const line = await source.line(limit - bytes);
    if (line === undefined) return (await source.peek(limit - bytes)).length < limit - bytes ? 'ended' : 'too long';
    bytes += line.length + 2;
    if (line === '') return { fields, bytes };
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trimEnd().toLowerCase();
    if (!FIELD_NAME.test(name)) continue;
    const values = fields.get(name) ?? [];
    fields.set(name, [...values, line.slice(colon + 1).trim()]);
  }
}

/** @returns the largest length that the header lines state; undefined if none is a number */
export function lengthOf(fields: Fields): number | undefined {
  const lengths = (fields.get('content-length') ?? []).flatMap((value) => value.split(',')).map((text) => text.trim());
  const valid = lengths.filter((text) => /^\d{1,15}$/.test(text)).map(Number);
  return valid.length === 0 ? undefined : Math.max(...valid);
}

/** @returns whether the last bytes have the end marker of a JPEG */
export const endsAsJpeg = (bytes: Buffer): boolean =>
  jpegStart(bytes) >= 0 && bytes.subarray(-PADDING).includes(JPEG_END);
