/**
 * Sniffer of image types. It reads only the first bytes, so that the API refuses other content at once; the worker
 * finds out whether the rest can be decoded. The library file-type is no replacement: it takes an animated PNG and a
 * camera's raw TIFF for other types, which would refuse frames that are accepted today.
 */
import { ScenedeltaError } from './errors.js';

const ascii = (text: string) => [...Buffer.from(text, 'latin1')];

interface Signature {
  readonly contentType: string;
  readonly offset: number;
  readonly magic: readonly number[];
}
const at = (contentType: string, offset: number, magic: readonly number[]): Signature => ({
  contentType,
  offset,
  magic,
});

/** Telephones take pictures in this format, which the decoder lacks. */
const HEIC: readonly Signature[] = ['heic', 'heix', 'hevc', 'heim', 'mif1'].map((brand) =>
  at('image/heic', 4, ascii(`ftyp${brand}`)),
);
const SIGNATURES: readonly Signature[] = [
  at('image/jpeg', 0, [0xff, 0xd8, 0xff]),
  at('image/png', 0, [0x89, ...ascii('PNG\r\n\x1a\n')]),
  at('image/gif', 0, ascii('GIF87a')),
  at('image/gif', 0, ascii('GIF89a')),
  at('image/tiff', 0, [...ascii('II'), 42, 0]),
  at('image/tiff', 0, [...ascii('MM'), 0, 42]),
  at('image/webp', 8, ascii('WEBP')),
  at('image/avif', 4, ascii('ftypavif')),
  at('image/avif', 4, ascii('ftypavis')),
];

export const IMAGE_TYPES = [...new Set(SIGNATURES.map((signature) => signature.contentType))];
export const IMAGE_NAMES = 'a JPEG, PNG, WebP, AVIF, TIFF or GIF image';

/** Bytes before the start marker of a JPEG that are tolerated: more is another format. */
const MOST_LEADING = 64;
const SPACE = 0x20;
/** Byte order mark of UTF-8, which scripts put before what they send. */
const MARK = [0xef, 0xbb, 0xbf];
const JPEG_START = Buffer.from([0xff, 0xd8, 0xff]);

/**
 * @returns the position of the start marker of a JPEG; -1 if there is none in the first bytes, or something else than
 *   white space, zeros and a byte order mark before it: a TIFF may hold a JPEG
 */
export function jpegStart(bytes: Uint8Array): number {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, MOST_LEADING)).indexOf(JPEG_START);
  return bytes.subarray(0, Math.max(0, start)).every((byte) => byte <= SPACE || MARK.includes(byte)) ? start : -1;
}

/** @returns the content type of an accepted image, by its first bytes; undefined if they are those of none */
export const imageTypeOf = (bytes: Uint8Array): string | undefined =>
  SIGNATURES.find(isIn(bytes))?.contentType ?? (jpegStart(bytes) < 0 ? undefined : 'image/jpeg');

const isIn =
  (bytes: Uint8Array) =>
  ({ offset, magic }: Signature): boolean =>
    magic.every((byte, i) => bytes[offset + i] === byte);

/**
 * @param field form field or JSON member of the bytes
 * @returns the content type
 * @throws ScenedeltaError image-unreadable, with the field, the first bytes and the accepted types
 */
export function sniffImage(bytes: Uint8Array, field: string): string {
  const found = imageTypeOf(bytes);
  if (found !== undefined) return found;
  throw new ScenedeltaError('image-unreadable', `${field} ${contentOf(bytes)}: expected ${IMAGE_NAMES}`, { field });
}

function contentOf(bytes: Uint8Array): string {
  if (bytes.length === 0) return 'has 0 bytes';
  if (HEIC.some(isIn(bytes))) return 'is a HEIC image';
  return `has ${bytes.length} bytes and starts with ${Buffer.from(bytes.subarray(0, 8)).toString('hex')}`;
}
