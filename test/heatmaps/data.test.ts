import type { Heatmap } from '../../src/base/images.js';
import { decodeHeatmapData, encodeHeatmapData } from '../../src/heatmaps/data.js';

const map = (level: number): Heatmap => ({ width: 3, height: 2, data: new Float32Array(6).fill(level) });
const changeMaps = { before: map(0.125), after: map(0.25) };
const [overBefore, overAfter] = [
  [map(0.5), map(1)],
  [map(0.75), map(0)],
];

describe('the codec of heatmaps', () => {
  it('stores one map per word if both frames have one view', () => {
    const bytes = encodeHeatmapData({ ...changeMaps, words: { before: overBefore, after: overBefore } });
    expect(bytes.length).toBe(12 + 4 * 6 * 4);
    const { words } = decodeHeatmapData(bytes);
    expect(words.before).toEqual(overBefore);
    expect(words.after).toBe(words.before);
  });

  it('stores two maps per word if the camera moved', () => {
    const maps = { ...changeMaps, words: { before: overBefore, after: overAfter } };
    expect(decodeHeatmapData(encodeHeatmapData(maps))).toEqual(maps);
  });

  it('reads files from before the flag, with one map per word', () => {
    const header = Uint8Array.of(0x53, 0x44, 0x4d, 0x31, 3, 0, 2, 0, 1, 0, 0, 0); // SDM1, 3 x 2 cells, 1 word, 0
    const cells = Float32Array.from([0.125, 0.25, 0.5].flatMap((level) => Array(6).fill(level)));
    const stored = Buffer.concat([header, Buffer.from(cells.buffer)]);
    expect(decodeHeatmapData(stored)).toEqual({
      ...changeMaps,
      words: { before: [map(0.5)], after: [map(0.5)] },
    });
  });

  it('refuses a word with a map over one frame only, and truncated bytes', () => {
    const one = { before: overBefore, after: overAfter.slice(1) };
    expect(() => encodeHeatmapData({ ...changeMaps, words: one })).toThrow(
      '1 words have maps over after, expected 2 as over before',
    );
    const encoded = encodeHeatmapData({ ...changeMaps, words: { before: overBefore, after: overAfter } });
    expect(() => decodeHeatmapData(encoded.subarray(0, 12 + 4 * 6 * 4))).toThrow(
      'heatmap data has 108 bytes, expected 156 for 2 words on 3x2',
    );
  });
});
