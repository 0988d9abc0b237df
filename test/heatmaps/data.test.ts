import { decodeHeatmapData, encodeHeatmapData } from '../../src/heatmaps/data.js';
import type { Heatmap } from '../../src/images.js';

const map = (level: number): Heatmap => ({ width: 3, height: 2, data: new Float32Array(6).fill(level) });
const shown = { before: map(0.125), after: map(0.25) };
const [looked, carried] = [
  [map(0.5), map(1)],
  [map(0.75), map(0)],
];

describe('heatmap data, to bytes and back', () => {
  it('keeps one map a word where both frames have one view', () => {
    const bytes = encodeHeatmapData({ ...shown, words: { before: looked, after: looked } });
    expect(bytes.length).toBe(12 + 4 * 6 * 4);
    const { words } = decodeHeatmapData(bytes);
    expect(words.before).toEqual(looked);
    expect(words.after).toBe(words.before);
  });

  it('keeps two maps a word where the camera had moved', () => {
    const maps = { ...shown, words: { before: looked, after: carried } };
    expect(decodeHeatmapData(encodeHeatmapData(maps))).toEqual(maps);
  });

  it('reads what was kept before words had a map over either frame', () => {
    const header = Uint8Array.of(0x53, 0x44, 0x4d, 0x31, 3, 0, 2, 0, 1, 0, 0, 0); // SDM1, 3 x 2 cells, 1 word, 0
    const cells = Float32Array.from([0.125, 0.25, 0.5].flatMap((level) => Array(6).fill(level)));
    const kept = Buffer.concat([header, Buffer.from(cells.buffer)]);
    expect(decodeHeatmapData(kept)).toEqual({ ...shown, words: { before: [map(0.5)], after: [map(0.5)] } });
  });

  it('refuses a word that has a map over one frame only, and bytes that are cut short', () => {
    const one = { before: looked, after: carried.slice(1) };
    expect(() => encodeHeatmapData({ ...shown, words: one })).toThrow(
      '1 words have maps over after, expected 2 as over before',
    );
    const whole = encodeHeatmapData({ ...shown, words: { before: looked, after: carried } });
    expect(() => decodeHeatmapData(whole.subarray(0, 12 + 4 * 6 * 4))).toThrow(
      'heatmap data has 108 bytes, expected 156 for 2 words on 3x2',
    );
  });
});
