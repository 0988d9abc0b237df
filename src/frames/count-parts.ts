/**
 * Counter of the parts of an encoded image: scans of a JPEG, images of a GIF or WebP animation, pages of a TIFF. A
 * decoder passes over all pixels per scan, and libvips lists all images and pages before it decodes the first, so that
 * a small file can keep a processor busy for minutes. The parts are counted from the bytes, up to the limit.
 */
import { ScenedeltaError } from '../base/errors.js';
import { imageTypeOf } from '../base/image-type.js';

interface PartRule {
  /** plural name of a part in messages */
  readonly unit: string;
  readonly limit: number;
  /** @returns the number of parts; at least `limit + 1` if there are more than `limit` */
  count(bytes: Buffer, limit: number): number;
}

const RULES: Readonly<Record<string, PartRule>> = {
  // A progressive JPEG usually has ten scans.
  'image/jpeg': { unit: 'scans', limit: 100, count: countScans },
  'image/gif': { unit: 'images', limit: 1000, count: countGifImages },
  'image/webp': { unit: 'images', limit: 1000, count: countWebpImages },
  'image/tiff': { unit: 'pages', limit: 1000, count: countTiffPages },
};

/**
 * @param field name of the frame in messages, and field of the error
 * @throws ScenedeltaError image-too-large if the image has more parts than a decoder can go through in a short time
 */
export function assertFewParts(image: Uint8Array, field: string): void {
  const rule = RULES[imageTypeOf(image) ?? ''];
  if (rule === undefined) return;
  const bytes = Buffer.from(image.buffer, image.byteOffset, image.byteLength);
  if (rule.count(bytes, rule.limit) <= rule.limit) return;
  throw new ScenedeltaError(
    'image-too-large',
    `${field}: the image has more than ${rule.limit} ${rule.unit}, expected at most ${rule.limit}`,
    { field },
  );
}

/** Markers of a JPEG without a length: stuffed zero, TEM, restart markers, start and end of image, fill byte. */
const isBareMarker = (marker: number) => marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd9) || marker === 0xff;
const START_OF_SCAN = 0xda;

function countScans(bytes: Buffer, limit: number): number {
  let scans = 0;
  let at = 2;
  while (scans <= limit) {
    at = bytes.indexOf(0xff, at);
    if (at < 0 || at + 4 > bytes.length) return scans;
    const marker = bytes[at + 1] as number;
    if (isBareMarker(marker)) {
      at += marker === 0xff ? 1 : 2;
      continue;
    }
    if (marker === START_OF_SCAN) scans++;
    // A length below 2 is damage; the search for the next marker goes on behind it, as decoders do.
    at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return scans;
}

const colourTableBytes = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);

function countGifImages(bytes: Buffer, limit: number): number {
  const [EXTENSION, IMAGE] = [0x21, 0x2c];
  const byteAt = (at: number) => bytes[at] ?? 0;
  let images = 0;
  let at = 13 + colourTableBytes(byteAt(10));
  while (at < bytes.length && images <= limit) {
    const block = byteAt(at);
    if (block === EXTENSION) {
      at += 2;
    } else if (block === IMAGE) {
      images++;
      at += 11 + colourTableBytes(byteAt(at + 9));
    } else {
      return images;
    }
    while (byteAt(at) > 0) at += 1 + byteAt(at);
    at++;
  }
  return images;
}

const ANIMATION_FRAME = 0x414e4d46; // 'ANMF'

function countWebpImages(bytes: Buffer, limit: number): number {
  let images = 0;
  // A chunk: four characters, its length, its bytes, and one more if the length is odd.
  for (let at = 12; at + 8 <= bytes.length && images <= limit; ) {
    if (bytes.readUInt32BE(at) === ANIMATION_FRAME) images++;
    const length = bytes.readUInt32LE(at + 4);
    at += 8 + length + (length % 2);
  }
  return images;
}

function countTiffPages(bytes: Buffer, limit: number): number {
  const little = bytes[0] === 0x49;
  const read16 = (at: number) => (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const read32 = (at: number) => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  let pages = 0;
  let at = bytes.length >= 8 ? read32(4) : 0;
  // A directory: the number of its entries, entries of 12 bytes, and the position of the next directory or 0.
  while (at > 0 && at + 2 <= bytes.length && pages <= limit) {
    pages++;
    const next = at + 2 + 12 * read16(at);
    at = next + 4 <= bytes.length ? read32(next) : 0;
  }
  return pages;
}
