/**
 * JPEG bytes as cameras send them: with bytes before the start marker (a line break that belongs to the HTTP header),
 * and without the end marker. Browsers show both. The picture is whole, so that the missing parts are put in place.
 */
import { jpegStart } from '../base/image-type.js';

/** Bytes at the end in which the end marker is looked for; after it, decoders ignore anything. */
const TAIL = 4096;
/** The last row of a whole picture may end in fewer. */
const LEAST_ZEROS = 64;
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
  const sent = jpeg.subarray(0, endOfData(jpeg));
  // An end marker that was cut in half would be read as a part of the last row.
  const last = sent.at(-1) === 0xff ? -1 : sent.length;
  return Buffer.concat([sent.subarray(0, last), END]);
}

/** A file whose upload stopped may have its full length, with zeros to the end, which a decoder draws as blocks. */
function endOfData(jpeg: Uint8Array): number {
  let end = jpeg.length;
  while (end > 0 && jpeg[end - 1] === 0) end--;
  return jpeg.length - end >= LEAST_ZEROS ? end : jpeg.length;
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
