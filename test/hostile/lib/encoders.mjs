/**
 * Encoders of images that no ordinary encoder writes: solid images of any size in a few kilobytes, and images with any
 * number of scans, frames or pages. All are valid, so that only their cost is hostile.
 */
import { constants, deflateRawSync } from 'node:zlib';

const bytes = (...values) => Buffer.from(values);
const be32 = (value) => bytes(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
const be16 = (value) => bytes(value >> 8, value & 255);
const le16 = (value) => bytes(value & 255, value >> 8);
const le24 = (value) => bytes(value & 255, (value >> 8) & 255, value >> 16);
const le32 = (value) => Buffer.from(be32(value)).reverse();
const repeated = (times, item) => Array.from({ length: times }, () => item);

/** CRC of PNG (RFC 2083, appendix 15); node:zlib has it only from Node 20.15 on. */
function crc32(data) {
  let crc = 0xffffffff;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

export function pngChunk(type, body) {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  return Buffer.concat([be32(body.length), typed, be32(crc32(typed))]);
}

/** A zlib stream of `length` zeros: one compressed block, repeated, so that 2 GB take milliseconds. */
function zlibZeros(length) {
  const blockBytes = 1024 * 1024;
  const block = deflateRawSync(Buffer.alloc(blockBytes), { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  const rest = deflateRawSync(Buffer.alloc(length % blockBytes), { level: 9 });
  const adler = ((length % 65_521) * 65_536 + 1) >>> 0;
  return Buffer.concat([bytes(0x78, 0xda), ...repeated(Math.floor(length / blockBytes), block), rest, be32(adler)]);
}

const PNG_SAMPLES = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** Adam7: first column, first row, column step, row step of each pass. */
const ADAM7 = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
];

/** A black PNG. @param colourType 0 grey, 2 RGB, 4 grey with alpha, 6 RGB with alpha */
export function solidPng(width, height, { depth = 8, colourType = 2, interlaced = false, chunks = [] } = {}) {
  const lineBytes = (columns) => (columns === 0 ? 0 : 1 + Math.ceil((columns * PNG_SAMPLES[colourType] * depth) / 8));
  const passes = interlaced ? ADAM7 : [[0, 0, 1, 1]];
  const length = passes
    .map(([x, y, dx, dy]) => Math.ceil((height - y) / dy) * lineBytes(Math.ceil((width - x) / dx)))
    .reduce((sum, pass) => sum + pass, 0);
  const header = Buffer.concat([be32(width), be32(height), bytes(depth, colourType, 0, 0, interlaced ? 1 : 0)]);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    ...chunks,
    pngChunk('IDAT', zlibZeros(length)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A GIF of `images` images of one pixel on a canvas of two colours. */
export function gifOfImages(width, height, images) {
  const header = [Buffer.from('GIF89a'), le16(width), le16(height), bytes(0x80, 0, 0, 50, 50, 50, 200, 0, 0)];
  const image = Buffer.concat([bytes(0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0), bytes(2, 2, 0x44, 0x01, 0)]);
  return Buffer.concat([...header, ...repeated(images, image), bytes(0x3b)]);
}

/** A lossless WebP image of 16 x 16 grey pixels, without its container. */
const WEBP_IMAGE = Buffer.from('5650384c110000002f0fc0030007d099ce74a6ff8188e87f0000', 'hex');

const riffChunk = (type, body) =>
  Buffer.concat([Buffer.from(type, 'latin1'), le32(body.length), body, Buffer.alloc(body.length % 2)]);

/** An animated WebP of `images` images of 16 x 16 px. */
export function webpOfImages(width, height, images) {
  const canvas = riffChunk('VP8X', Buffer.concat([bytes(2, 0, 0, 0), le24(width - 1), le24(height - 1)]));
  const place = Buffer.concat([le24(0), le24(0), le24(15), le24(15), le24(10), bytes(0)]);
  const image = riffChunk('ANMF', Buffer.concat([place, WEBP_IMAGE]));
  const animation = riffChunk('ANIM', Buffer.alloc(6));
  const body = Buffer.concat([Buffer.from('WEBP'), canvas, animation, ...repeated(images, image)]);
  return Buffer.concat([Buffer.from('RIFF'), le32(body.length), body]);
}

/** A black TIFF of `pages` pages that share one strip. @param format 1 integer, 3 floating point */
export function tiffOfPages(width, height, pages, { bits = 8, samples = 3, format = 1 } = {}) {
  const strip = zlibZeros((width * height * samples * bits) / 8);
  const directoryBytes = 2 + 11 * 12 + 4;
  const stripAt = 8 + pages * directoryBytes;
  const [SHORT, LONG] = [3, 4];
  const entry = (tag, type, value) => Buffer.concat([le16(tag), le16(type), le32(1), le32(value)]);
  const entries = [
    entry(256, LONG, width),
    entry(257, LONG, height),
    entry(258, SHORT, bits),
    entry(259, SHORT, 8), // deflate
    entry(262, SHORT, samples < 3 ? 1 : 2),
    entry(273, LONG, stripAt),
    entry(277, SHORT, samples),
    entry(278, LONG, height),
    entry(279, LONG, strip.length),
    entry(284, SHORT, 1),
    entry(339, SHORT, format),
  ];
  const directories = Array.from({ length: pages }, (_, page) => {
    const next = page + 1 < pages ? 8 + (page + 1) * directoryBytes : 0;
    return Buffer.concat([le16(entries.length), ...entries, le32(next)]);
  });
  return Buffer.concat([Buffer.from('49492a0008000000', 'hex'), ...directories, strip]);
}

const jpegSegment = (marker, body) => Buffer.concat([bytes(0xff, marker), be16(body.length + 2), body]);

/** A table of Huffman codes of 1, 2, ... bits: 0, 10, 110, ... */
function huffmanTable(id, symbols) {
  const lengths = Buffer.alloc(16);
  lengths.fill(1, 0, symbols.length);
  return jpegSegment(0xc4, Buffer.concat([bytes(id), lengths, bytes(...symbols)]));
}

/**
 * A grey progressive JPEG of `scans` scans. The first has the mean of every block, each further one a bit of a
 * coefficient: there are 63 x 14 of these, and runs of empty blocks make each scan a few bytes long.
 */
export function jpegOfScans(width, height, scans) {
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8);
  const RUN = 0xe0; // symbol: a run of 2^14 blocks and as many as the 14 bits after it state
  let bits = '';
  let left = blocks;
  while (left >= 2 ** 14) {
    const run = Math.min(left, 2 ** 15 - 1);
    bits += `0${(run - 2 ** 14).toString(2).padStart(14, '0')}`;
    left -= run;
  }
  bits += '10'.repeat(left); // single empty blocks
  const scan = (first, last, high, low, data) =>
    Buffer.concat([jpegSegment(0xda, bytes(1, 1, 0, first, last, high * 16 + low)), data]);
  const parts = [
    bytes(0xff, 0xd8),
    jpegSegment(0xdb, Buffer.concat([bytes(0), Buffer.alloc(64, 1)])),
    jpegSegment(0xc2, Buffer.concat([bytes(8), be16(height), be16(width), bytes(1, 1, 0x11, 0)])),
    huffmanTable(0x00, [0]),
    huffmanTable(0x10, [RUN, 0]),
    scan(0, 0, 0, 0, Buffer.alloc(Math.ceil(blocks / 8))),
  ];
  const empty = packedBits(bits);
  for (let i = 0; i < scans - 1; i++) {
    const low = 13 - Math.floor(i / 63);
    const coefficient = 1 + (i % 63);
    parts.push(scan(coefficient, coefficient, low === 13 ? 0 : low + 1, low, empty));
  }
  return Buffer.concat([...parts, bytes(0xff, 0xd9)]);
}

/** A grey baseline JPEG of four inks: each block is two codes of one bit, so that four blocks are a byte of zeros. */
export function jpegOfInks(width, height) {
  const inks = [1, 2, 3, 4];
  const adobe = Buffer.concat([Buffer.from('Adobe'), be16(100), be16(0), be16(0), bytes(0)]);
  return Buffer.concat([
    bytes(0xff, 0xd8),
    jpegSegment(0xee, adobe),
    jpegSegment(0xdb, Buffer.concat([bytes(0), Buffer.alloc(64, 1)])),
    jpegSegment(
      0xc0,
      Buffer.concat([bytes(8), be16(height), be16(width), bytes(4, ...inks.flatMap((ink) => [ink, 0x11, 0]))]),
    ),
    huffmanTable(0x00, [0]),
    huffmanTable(0x10, [0]),
    jpegSegment(0xda, bytes(4, ...inks.flatMap((ink) => [ink, 0]), 0, 63, 0)),
    Buffer.alloc(Math.ceil(width / 8) * Math.ceil(height / 8)),
    bytes(0xff, 0xd9),
  ]);
}

/** @param bits text of 0 and 1. @returns the bytes, filled up with 1; 0xff is followed by 0 as in a JPEG */
function packedBits(bits) {
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  const values = padded.match(/.{8}/g).map((byte) => Number.parseInt(byte, 2));
  return bytes(...values.flatMap((value) => (value === 255 ? [255, 0] : [value])));
}
