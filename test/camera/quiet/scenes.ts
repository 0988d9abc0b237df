/** Made previews of one fixed camera: a textured scene with sensor noise, light, shake and things. */
import type { Preview } from '../../../src/base/images.js';
import { seededRandom } from '../../../src/base/random.js';

export const WIDTH = 480;
export const HEIGHT = 270;

interface Altered {
  /** standard deviation of the sensor's noise in preview pixels, levels */
  readonly noise?: number;
  readonly seed?: string;
  readonly gain?: number;
  readonly offset?: number;
  /** shift of the view, preview pixels */
  readonly shift?: readonly [x: number, y: number];
  /** [x, y, width, height, levels]: squares that are brighter by so much */
  readonly things?: readonly (readonly [number, number, number, number, number])[];
}

/** Smooth hills with edges of buildings of two pixels, as a lens draws them, so that light and shake show. */
function levelAt(x: number, y: number): number {
  const hills = 40 * Math.sin(x / 31) * Math.cos(y / 23);
  const wall = Math.tanh(12 * Math.sin((Math.PI * x) / 60)) * Math.tanh(12 * Math.sin((Math.PI * y) / 45));
  return 118 + hills + 25 * wall;
}

/** The scene that is not shifted, computed once. */
const STILL = Float32Array.from({ length: WIDTH * HEIGHT }, (_, i) => levelAt(i % WIDTH, Math.floor(i / WIDTH)));

/** Normal noise, drawn once: each frame starts at a place of its own. */
const NOISE = (() => {
  const random = seededRandom('noise');
  return Float32Array.from({ length: 300_007 }, () => random.normal());
})();

const NO_SHIFT = [0, 0] as const;

export function preview(altered: Altered = {}): Preview {
  const { noise = 1, seed = 'frame', gain = 1, offset = 0, shift = NO_SHIFT, things = [] } = altered;
  const start = Math.floor(seededRandom(seed).uniform(0, NOISE.length));
  const luma = new Uint8Array(WIDTH * HEIGHT);
  for (let y = 0, i = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++, i++) {
      let level = shift === NO_SHIFT ? (STILL[i] as number) : levelAt(x + shift[0], y + shift[1]);
      for (const [left, top, width, height, levels] of things) {
        if (x >= left && x < left + width && y >= top && y < top + height) level += levels;
      }
      luma[i] = Math.max(
        0,
        Math.min(255, Math.round(level * gain + offset + noise * (NOISE[(start + i) % NOISE.length] as number))),
      );
    }
  }
  return { width: WIDTH, height: HEIGHT, luma, source: { width: 4 * WIDTH, height: 4 * HEIGHT } };
}
