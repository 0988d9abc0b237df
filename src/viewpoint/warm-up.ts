/** Warm-up: lets the engine compile `examine` before the first request. */
import type { RgbImage } from '../base/images.js';
import { uniformNumbers } from '../base/random.js';
import { examine } from './examine.js';

const SIZE = { width: 384, height: 288 };
const BOXES = 90;
/** Pixels: too far to be tracked from the start, so that descriptors are matched and the frame is warped. */
const SHIFT = 40;
/** Each round examines an unmoved and a moved frame. */
const ROUNDS = 2;

/** The first run of `examine` in a thread takes several times as long as later ones. */
export function warmUpExamine(): void {
  const [before, after, moved] = [boxes(0, 0), boxes(0, 3), boxes(SHIFT, 3)];
  for (let round = 0; round < ROUNDS; round++) {
    examine(before, after);
    examine(before, moved);
  }
}

/** The same random boxes on grey, shifted by `left` pixels and brighter by `brighter` levels. */
function boxes(left: number, brighter: number): RgbImage {
  const { width, height } = SIZE;
  const data = new Uint8Array(width * height * 3).fill(100 + brighter);
  const random = uniformNumbers(1);
  for (let n = 0; n < BOXES; n++) {
    const [x0, y0] = [Math.floor(random() * (width + SHIFT)) - left, Math.floor(random() * height)];
    const [x1, y1] = [Math.min(width, x0 + 6 + random() * 50), Math.min(height, y0 + 6 + random() * 50)];
    const level = 20 + 200 * random() + brighter;
    for (let y = y0; y < y1; y++)
      data.fill(level, (y * width + Math.max(0, x0)) * 3, (y * width + Math.max(0, Math.floor(x1))) * 3);
  }
  return { width, height, data };
}
