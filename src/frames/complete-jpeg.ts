/**
 * JPEG bytes as cameras send them: with bytes before the start marker (a line break that belongs to the HTTP header),
 * and without the end marker. Browsers show both. The picture is whole, so that the missing parts are put in place.
 */
import { jpegStart } from '../image-type.js';

/** Bytes at the end in which the end marker is looked for; after it, decoders ignore anything. */
const TAIL = 4096;
const END = Buffer.from([0xff, 0xd9]);

/**
 * A JPEG from its start marker to an end marker. Whether its rows are complete is for the decoder to find out.
 * @returns the same bytes if nothing is missing, or if they are no JPEG
 */
export function completeJpeg(bytes: Uint8Array): Uint8Array {
  const start = jpegStart(bytes);
  if (start < 0) return bytes;
  const jpeg = bytes.subarray(start);
  if (bufferOf(jpeg.subarray(-TAIL)).includes(END)) return start === 0 ? bytes : jpeg;
  // An end marker that was cut in half would be read as a part of the last row.
  const last = jpeg.at(-1) === 0xff ? -1 : jpeg.length;
  return Buffer.concat([jpeg.subarray(0, last), END]);
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
