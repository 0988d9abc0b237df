import type { Heatmap, RgbImage } from '../../src/base/images.js';
import { renderGray, renderLayer, sideBySide } from '../../src/heatmaps/render.js';

const grey = (width: number, height: number, level = 120): RgbImage => ({
  width,
  height,
  data: new Uint8Array(width * height * 3).fill(level),
});
const emptyMap = (width: number, height: number): Heatmap => ({
  width,
  height,
  data: new Float32Array(width * height),
});
function hotCell(width: number, height: number, column: number, row: number, value = 1): Heatmap {
  const map = emptyMap(width, height);
  map.data[row * width + column] = value;
  return map;
}
const luminance = (image: RgbImage, x: number, y: number): number => {
  const i = (y * image.width + x) * 3;
  return (image.data[i] ?? 0) * 0.2126 + (image.data[i + 1] ?? 0) * 0.7152 + (image.data[i + 2] ?? 0) * 0.0722;
};
function brightest(image: RgbImage): { x: number; y: number } {
  let best = { x: 0, y: 0 };
  for (let y = 0; y < image.height; y++) {
    for (let x = 0; x < image.width; x++) {
      if (luminance(image, x, y) > luminance(image, best.x, best.y)) best = { x, y };
    }
  }
  return best;
}

/** The layer of a map over a frame, as the image library composites it. */
function laidOver(frame: RgbImage, map: Heatmap): RgbImage {
  const { width, height } = frame;
  const layer = renderLayer(map, width, height);
  const data = frame.data.map((under, i) => {
    const pixel = Math.floor(i / 3) * 4;
    const opacity = (layer[pixel + 3] as number) / 255;
    return Math.round(under + opacity * ((layer[pixel + (i % 3)] as number) - under));
  });
  return { width, height, data };
}

describe('renderLayer', () => {
  it('does not change the frame under an empty map', () => {
    const frame = grey(61, 37);
    expect(Buffer.from(laidOver(frame, emptyMap(6, 4)).data).equals(Buffer.from(frame.data))).toBe(true);
  });

  it.each([
    [0, 0],
    [4, 1],
    [5, 3],
  ])('is brightest inside the hot cell (%i, %i)', (column, row) => {
    const peak = brightest(laidOver(grey(120, 40, 0), hotCell(6, 4, column, row)));
    expect(Math.floor((peak.x / 120) * 6)).toBe(column);
    expect(Math.floor((peak.y / 40) * 4)).toBe(row);
  });

  it('gets lighter on black with every step of the value', () => {
    const levels = Array.from({ length: 20 }, (_, i) => i / 19);
    const lights = levels.map((value) =>
      luminance(laidOver(grey(1, 1, 0), { width: 1, height: 1, data: Float32Array.of(value) }), 0, 0),
    );
    for (let i = 1; i < lights.length; i++) expect(lights[i]).toBeGreaterThan(lights[i - 1] as number);
  });
});

describe('renderGray', () => {
  it('keeps a cell value at the cell centre and stays inside 0..255 beside a sharp edge', () => {
    const map: Heatmap = { width: 5, height: 1, data: Float32Array.of(0, 0, 1, 1, 0.4) };
    const image = renderGray(map, 25, 3);
    const row = Array.from({ length: 25 }, (_, x) => image.data[(25 + x) * 3]);
    expect([2, 7, 12, 17, 22].map((x) => row[x])).toEqual([0, 0, 255, 255, 102]);
  });

  it('renders a flat map as one grey', () => {
    const image = renderGray({ width: 3, height: 2, data: new Float32Array(6).fill(0.6) }, 31, 17);
    expect(new Set(image.data)).toEqual(new Set([153]));
  });
});

describe('sideBySide', () => {
  it('joins images of different height with a black gap', () => {
    const joined = sideBySide(grey(3, 2, 10), grey(2, 4, 20), 1);
    expect([joined.width, joined.height]).toEqual([6, 4]);
    const reds = (y: number) => Array.from({ length: 6 }, (_, x) => joined.data[(y * 6 + x) * 3]);
    expect(reds(1)).toEqual([10, 10, 10, 0, 20, 20]);
    expect(reds(3)).toEqual([0, 0, 0, 0, 20, 20]);
  });
});
