/** Noise, sharpness, JPEG blocks and streaks of a frame, measured at its own resolution on squares spread over it. */
import type { RgbImage } from '../base/images.js';
import { median, quantile } from './statistics.js';

export interface Grain {
  /** standard deviation of the noise in the quieter squares, levels (Immerkaer 1996) */
  readonly noise: number;
  /** mean absolute second difference in the most detailed squares, levels */
  readonly sharpness: number;
  /** log ratio of the steps between the 8 x 8 blocks of JPEG to the steps inside them; 0 = no blocks */
  readonly blocks: number;
  /** share of pixels that equal their left and upper neighbours, which strong compression makes of flat places */
  readonly blank: number;
  /** log ratio of horizontal to vertical curvature: above 0 if fine vertical streaks prevail */
  readonly streaks: number;
}

const COLUMNS = 8;
const ROWS = 6;
/** Pixels per side of a square: a whole number of JPEG blocks. */
const SQUARE = 16;
const BLOCK = 8;

export function measureGrain(image: RgbImage): Grain {
  const side = Math.min(SQUARE, image.width - 2, image.height - 2);
  const squares: Square[] = [];
  for (let row = 0; row < ROWS; row++) {
    for (let column = 0; column < COLUMNS; column++) {
      // Aligned with the JPEG blocks, so that each square contains the same number of their borders.
      const left = snap(((image.width - side - 2) * column) / (COLUMNS - 1)) + 1;
      const top = snap(((image.height - side - 2) * row) / (ROWS - 1)) + 1;
      squares.push(measureSquare(image, left, top, side));
    }
  }
  const of = (key: keyof Square) => squares.map((square) => square[key]);
  const sum = (key: keyof Square) => of(key).reduce((a, b) => a + b, 0);
  return {
    noise: quantile(of('noise'), 0.3),
    sharpness: quantile(of('curvature'), 0.9),
    blocks: Math.log((sum('border') + 0.05) / (sum('inside') + 0.05)),
    blank: sum('blank') / squares.length,
    streaks: median(squares.map((s) => Math.log((s.across + 0.3) / (s.down + 0.3)))),
  };
}

const snap = (position: number): number => Math.floor(position / BLOCK) * BLOCK;

interface Square {
  readonly noise: number;
  readonly curvature: number;
  /** mean absolute step at block borders, and inside blocks */
  readonly border: number;
  readonly inside: number;
  readonly blank: number;
  readonly across: number;
  readonly down: number;
}

const lumaBuffer = new Float32Array((SQUARE + 2) ** 2);

function measureSquare(image: RgbImage, left: number, top: number, side: number): Square {
  const wide = side + 2;
  for (let y = 0, to = 0; y < wide; y++) {
    let from = ((top - 1 + y) * image.width + left - 1) * 3;
    for (let x = 0; x < wide; x++, to++, from += 3) {
      lumaBuffer[to] =
        0.299 * (image.data[from] as number) +
        0.587 * (image.data[from + 1] as number) +
        0.114 * (image.data[from + 2] as number);
    }
  }
  const p = lumaBuffer;
  let noise = 0;
  let across = 0;
  let down = 0;
  let border = 0;
  let inside = 0;
  let blank = 0;
  let borders = 0;
  let insides = 0;
  for (let y = 1; y <= side; y++) {
    for (let x = 1, i = y * wide + 1; x <= side; x++, i++) {
      const above = i - wide;
      const below = i + wide;
      const centre = p[i] as number;
      const horizontal = (p[i - 1] as number) - 2 * centre + (p[i + 1] as number);
      const vertical = (p[above] as number) - 2 * centre + (p[below] as number);
      const upper = (p[above - 1] as number) - 2 * (p[above] as number) + (p[above + 1] as number);
      const lower = (p[below - 1] as number) - 2 * (p[below] as number) + (p[below + 1] as number);
      noise += Math.abs(upper - 2 * horizontal + lower);
      across += Math.abs(horizontal);
      down += Math.abs(vertical);
      const stepX = Math.abs(centre - (p[i - 1] as number));
      const stepY = Math.abs(centre - (p[above] as number));
      if (stepX < 0.5 && stepY < 0.5) blank++;
      if ((left + x - 1) % BLOCK === 0) {
        border += stepX;
        borders++;
      } else {
        inside += stepX;
        insides++;
      }
      if ((top + y - 1) % BLOCK === 0) {
        border += stepY;
        borders++;
      } else {
        inside += stepY;
        insides++;
      }
    }
  }
  const count = side * side;
  return {
    // The mean absolute response of the mask to white noise of deviation s is 6 s sqrt(2 / pi).
    noise: (noise / count) * (Math.sqrt(Math.PI / 2) / 6),
    curvature: (across + down) / (2 * count),
    border: border / Math.max(1, borders),
    inside: inside / Math.max(1, insides),
    blank: blank / count,
    across: across / count,
    down: down / count,
  };
}
