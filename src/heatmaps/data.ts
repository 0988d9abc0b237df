/**
 * Codec of the heatmaps of one comparison. The grids are small (tens of cells per side); images are rendered from them
 * on demand, so that the style can change without another run of the model.
 *
 * Layout, little endian: magic 'SDM1', uint16 grid width, uint16 grid height, uint16 number of words, uint16 flag, then
 * float32 maps of width * height values each, row-major: before, after, one per word of the caption. Flag 1: these word
 * maps lie on before, and as many that lie on after follow. Flag 0: they lie on both frames.
 */
import { ScenedeltaError } from '../base/errors.js';
import type { Heatmap, Side } from '../base/images.js';

const MAGIC = 0x314d4453; // 'SDM1' read as little-endian uint32
const HEADER_BYTES = 12;

export interface HeatmapData {
  readonly before: Heatmap;
  readonly after: Heatmap;
  /**
   * attention of each word of the caption over either frame, on the same grid, each scaled to a maximum of 1; both
   * sides are the same list if the camera did not move between the frames
   */
  readonly words: Readonly<Record<Side, readonly Heatmap[]>>;
}

/** @throws ScenedeltaError internal if the grids differ, or the word maps over both frames differ in number */
export function encodeHeatmapData({ before, after, words }: HeatmapData): Uint8Array {
  const { width, height } = before;
  const cells = width * height;
  const differ = words.before !== words.after;
  if (words.before.length !== words.after.length) {
    throw new ScenedeltaError(
      'internal',
      `${words.after.length} words have maps over after, expected ${words.before.length} as over before`,
    );
  }
  const maps = [before, after, ...words.before, ...(differ ? words.after : [])];
  const bytes = new Uint8Array(HEADER_BYTES + maps.length * cells * 4);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint16(4, width, true);
  view.setUint16(6, height, true);
  view.setUint16(8, words.before.length, true);
  view.setUint16(10, differ ? 1 : 0, true);
  let offset = HEADER_BYTES;
  for (const map of maps) {
    if (map.width !== width || map.height !== height) {
      throw new ScenedeltaError('internal', `heatmap grid is ${map.width}x${map.height}, expected ${width}x${height}`);
    }
    for (const value of map.data) {
      view.setFloat32(offset, value, true);
      offset += 4;
    }
  }
  return bytes;
}

/** @throws ScenedeltaError internal if the bytes do not have this layout */
export function decodeHeatmapData(bytes: Uint8Array): HeatmapData {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < HEADER_BYTES || view.getUint32(0, true) !== MAGIC) {
    throw new ScenedeltaError('internal', `heatmap data of ${bytes.byteLength} bytes does not start with SDM1`);
  }
  const width = view.getUint16(4, true);
  const height = view.getUint16(6, true);
  const words = view.getUint16(8, true);
  const differ = view.getUint16(10, true) === 1;
  const cells = width * height;
  const expected = HEADER_BYTES + (2 + (differ ? 2 : 1) * words) * cells * 4;
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
  const wordMaps = (start: number) => Array.from({ length: words }, (_, i) => map(start + i));
  const before = wordMaps(2);
  return { before: map(0), after: map(1), words: { before, after: differ ? wordMaps(2 + words) : before } };
}
