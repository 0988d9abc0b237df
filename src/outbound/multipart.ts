/**
 * The first picture of a stream of parts (multipart/x-mixed-replace, multipart/mixed), as cameras send it that have no
 * still picture. The delimiter is read from the stream, because cameras state another one in their header.
 */
import { imageTypeOf } from '../base/image-type.js';
import { type ByteSource, Collected } from './byte-source.js';
import { endsAsJpeg, type Limits, lengthOf, type Picture, readFields } from './http-fields.js';

const PART_HEAD_LIMIT = 8 * 1024;
/** Parts without a picture, and lines before the first part, after which a stream is given up. */
const MOST_SKIPPED = 32;
const DELIMITER = /^--[\x21-\x7e][\x20-\x7e]{0,199}$/;

/**
 * @param type content type of the answer
 * @returns the first part that is a picture; no bytes if there is none
 * @throws the errors of `limits`
 */
export async function readFirstPart(stream: ByteSource, type: string, limits: Limits): Promise<Picture> {
  const stated = /boundary\s*=\s*"?([^";]+)/i.exec(type)?.[1]?.trim().toLowerCase();
  const isDelimiter = (line: string) => DELIMITER.test(line) || (line !== '' && line.toLowerCase() === stated);
  for (let skipped = 0; skipped < MOST_SKIPPED; skipped++) {
    const line = (await stream.line(PART_HEAD_LIMIT))?.trim();
    if (line === undefined) break;
    if (!isDelimiter(line)) continue;
    const head = await readFields(stream, PART_HEAD_LIMIT);
    if (typeof head === 'string') break;
    const part = await readPart(stream, line, lengthOf(head.fields), limits);
    if (imageTypeOf(part.bytes) !== undefined) return part;
  }
  return { bytes: Buffer.alloc(0), complete: false };
}

/**
 * Reads the body of a part: as many bytes as its header states, or up to the next delimiter. A JPEG that does not end
 * at the stated length is read up to the delimiter too.
 */
async function readPart(stream: ByteSource, delimiter: string, length: number | undefined, limits: Limits) {
  const collected = new Collected();
  if ((length ?? 0) > limits.maxBytes) throw limits.tooLarge();
  while (collected.bytes.length < (length ?? 0)) {
    const piece = await stream.some((length ?? 0) - collected.bytes.length);
    if (piece.length === 0) return { bytes: collected.bytes, complete: endsAsJpeg(collected.bytes) };
    collected.add(piece);
  }
  if (length !== undefined && length > 0) {
    const isOther = imageTypeOf(collected.bytes) !== 'image/jpeg';
    if (isOther || endsAsJpeg(collected.bytes)) return { bytes: collected.bytes, complete: true };
  }
  const end = Buffer.from(`\n${delimiter}`, 'latin1');
  for (let searched = 0; ; ) {
    const found = collected.bytes.indexOf(end, searched);
    if (found >= 0) {
      stream.unread(collected.bytes.subarray(found + 1));
      const { bytes } = collected;
      return { bytes: bytes.subarray(0, bytes[found - 1] === 0x0d ? found - 1 : found), complete: true };
    }
    searched = Math.max(0, collected.bytes.length - end.length);
    const piece = await stream.some(limits.maxBytes);
    if (piece.length === 0) return { bytes: collected.bytes, complete: endsAsJpeg(collected.bytes) };
    collected.add(piece);
    if (collected.bytes.length > limits.maxBytes + end.length) throw limits.tooLarge();
  }
}
