/**
 * Heatmap data of one comparison as bytes, and back. The grids are small (tens of cells a side): pictures are rendered
 * from them on demand, so that a style can change without running the model again.
 *
 * Layout, little endian: magic 'SDM1', uint16 gridWidth, uint16 gridHeight, uint16 words, uint16 apart (0 or 1), then
 * float32 maps of gridWidth * gridHeight values each, row-major: before, after, then one a word of the caption in
 * order; where apart is 1 those lie on before, and as many that lie on after follow. What was kept before there was
 * such a thing has 0 there.
 */
import { ScenedeltaError } from '../errors.js';
import type { Heatmap, Side } from '../images.js';

const MAGIC = 0x314d4453; // 'SDM1' read as little-endian uint32
const HEADER_BYTES = 12;

export interface HeatmapData {
  readonly before: Heatmap;
  readonly after: Heatmap;
  /**
   * attention of each word of the caption, on the same grid, each scaled so that its maximum is 1; over either frame,
   * and one and the same list where the camera had not moved between them
   */
  readonly words: Readonly<Record<Side, readonly Heatmap[]>>;
}

export function encodeHeatmapData(maps: HeatmapData): Uint8Array {
  const { width, height } = maps.before;
  const cells = width * height;
  const { words } = maps;
  const apart = words.before !== words.after;
  if (words.before.length !== words.after.length) {
    throw new ScenedeltaError(
      'internal',
      `${words.after.length} words have maps over after, expected ${words.before.length} as over before`,
    );
  }
  const all = [maps.before, maps.after, ...words.before, ...(apart ? words.after : [])];
  const bytes = new Uint8Array(HEADER_BYTES + all.length * cells * 4);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint16(4, width, true);
  view.setUint16(6, height, true);
  view.setUint16(8, words.before.length, true);
  view.setUint16(10, apart ? 1 : 0, true);
  let offset = HEADER_BYTES;
  for (const map of all) {
    if (map.width !== width || map.height !== height) {
      throw new ScenedeltaError(
        'internal',
        `heatmap grid is ${map.width}x${map.height}, expected ${width}x${height}`,
      );
    }
    for (const value of map.data) {
      view.setFloat32(offset, value, true);
      offset += 4;
    }
  }
  return bytes;
}

/** @throws ScenedeltaError 'internal' where the bytes are not of this layout. */
export function decodeHeatmapData(bytes: Uint8Array): HeatmapData {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < HEADER_BYTES || view.getUint32(0, true) !== MAGIC) {
    throw new ScenedeltaError(
      'internal',
      `heatmap data of ${bytes.byteLength} bytes does not start with SDM1`,
    );
  }
  const width = view.getUint16(4, true);
  const height = view.getUint16(6, true);
  const words = view.getUint16(8, true);
  const apart = view.getUint16(10, true) === 1;
  const cells = width * height;
  const expected = HEADER_BYTES + (2 + (apart ? 2 : 1) * words) * cells * 4;
  if (bytes.byteLength !== expected) {
    throw new ScenedeltaError(
      'internal',
      `heatmap data has ${bytes.byteLength} bytes, expected ${expected} for ${words} words on ${width}x${height}`,
    );
  }
  const map = (index: number): Heatmap => {
    const data = new Float32Array(cells);
    const start = HEADER_BYTES + index * cells * 4;
    for (let i = 0; i < cells; i++) data[i] = view.getFloat32(start + i * 4, true);
    return { width, height, data };
  };
  const list = (start: number) => Array.from({ length: words }, (_, i) => map(start + i));
  const before = list(2);
  return { before: map(0), after: map(1), words: { before, after: apart ? list(2 + words) : before } };
}
