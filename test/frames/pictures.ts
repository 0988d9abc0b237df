/** Images for tests. */
import sharp, { type Sharp } from 'sharp';

export interface Block {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly colour: readonly [number, number, number];
}

/** Interleaved RGB of a dark grey scene with blocks in it. */
export function pixels(width: number, height: number, blocks: readonly Block[] = [], level = 50): Buffer {
  const data = Buffer.alloc(width * height * 3, level);
  for (const { x, y, width: w, height: h, colour } of blocks) {
    for (let row = y; row < y + h; row++) {
      for (let column = x; column < x + w; column++) data.set(colour, (row * width + column) * 3);
    }
  }
  return data;
}

export const scene = (width: number, height: number, blocks: readonly Block[] = [], level = 50): Sharp =>
  sharp(pixels(width, height, blocks, level), { raw: { width, height, channels: 3 } });

/** Noise, so that an encoded picture is long enough to be cut. */
export const noisy = (width: number, height: number): Sharp => {
  const data = Buffer.from(Array.from({ length: width * height * 3 }, (_, i) => (i * 7919) % 251));
  return sharp(data, { raw: { width, height, channels: 3 } });
};

/** A PNG whose header states this size; it has no pixels. */
export function pngHeader(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8); // 8 bits, RGB
  const chunk = (type: string, body: Buffer) => {
    const typed = Buffer.concat([Buffer.from(type, 'latin1'), body]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(body.length, 0);
    frame.writeUInt32BE(crc32(typed), 4);
    return Buffer.concat([frame.subarray(0, 4), typed, frame.subarray(4)]);
  };
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', Buffer.alloc(8)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** CRC of PNG (RFC 2083, appendix 15); node:zlib has it only from Node 20.15 on. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}
