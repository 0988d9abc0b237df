/**
 * The rows of a JPEG that its decoder had no data for. libjpeg fills them with one colour, and warns once; it does not
 * count them, so that they are found in the pixels.
 */
import { ScenedeltaError } from '../base/errors.js';
import type { RgbImage, Side } from '../base/images.js';

/** Part of an upright image, px. */
export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Levels of a channel by which rows may differ where rows are shrunk or their colours are interpolated. */
const TOLERANCE = 2;

/** Edge of the upright image at which the last row of the stored one lies, by EXIF orientation 1 to 8. */
const LAST_ROW = ['bottom', 'bottom', 'top', 'top', 'right', 'left', 'left', 'right'] as const;

/**
 * A row counts as lost if its first or its last pixel has the colour of the fill, from the end of the data on: the row
 * of blocks in which the data ends is lost too.
 * @param image upright, of a JPEG whose decoder warned that rows are missing. @param orientation of EXIF, 1 to 8
 * @returns null if less than a row is lost
 */
export function findLostRows({ width, height, data }: RgbImage, orientation: number): Rect | null {
  const edge = LAST_ROW[orientation - 1] ?? 'bottom';
  const isRow = edge === 'bottom' || edge === 'top';
  const [rows, columns] = isRow ? [height, width] : [width, height];
  const fromEnd = edge === 'bottom' || edge === 'right';
  const at = (row: number, column: number) => {
    const line = fromEnd ? rows - 1 - row : row;
    return 3 * (isRow ? line * width + column : column * width + line);
  };
  /** Most of the last row is filled, whichever pixel of it is the last one of the data. */
  const fill = at(0, columns >> 1);
  const isFill = (position: number) =>
    [0, 1, 2].every((i) => Math.abs((data[position + i] as number) - (data[fill + i] as number)) <= TOLERANCE);
  let lost = 0;
  while (lost < rows && (isFill(at(lost, 0)) || isFill(at(lost, columns - 1)))) lost++;
  if (lost === 0) return null;
  const start = fromEnd ? rows - lost : 0;
  return isRow ? { x: 0, y: start, width, height: lost } : { x: start, y: 0, width: lost, height };
}

/**
 * Gives the lost rows of each frame the pixels of the other one, so that a comparison finds no difference there.
 * @param frames of one size
 */
export function fillLostRows(frames: Readonly<Record<Side, RgbImage & { readonly lost: Rect | null }>>): void {
  const { before, after } = frames;
  for (const [to, from] of [
    [before, after],
    [after, before],
  ] as const) {
    if (to.lost === null) continue;
    const { x, y, width, height } = to.lost;
    for (let row = y; row < y + height; row++) {
      const [start, end] = [3 * (row * to.width + x), 3 * (row * to.width + x + width)];
      to.data.set(from.data.subarray(start, end), start);
    }
  }
}

/** Share of the rows that a picture may lack and count as whole: some cameras never send their last row of blocks. */
const LEAST_LOST = 0.02;

interface Decoded {
  readonly decodedShare: number;
}

/** Whether a part of the frame is missing that is worth a word. */
export const isCut = ({ decodedShare }: Decoded): boolean => decodedShare < 1 - LEAST_LOST;

/** @throws ScenedeltaError image-unreadable if rows are missing: later frames would be compared with the picture */
export function assertComplete(frame: Decoded, field: string): void {
  if (!isCut(frame)) return;
  const missing = Math.round(100 * (1 - frame.decodedShare));
  throw damaged(field, `${missing} % of its rows are missing, and later frames would be compared with it`);
}

/** Words of decoders about a picture that may be whole: 12 bits per channel, lossless or arithmetic coding. */
const KIND_NOT_READ = /unsupported|not supported/i;

export function damaged(field: string, reason: string, cause?: unknown): ScenedeltaError {
  const detail = KIND_NOT_READ.test(reason)
    ? `is of a kind that is not read (${reason}), expected e.g. a JPEG of 8 bits per channel`
    : `is damaged or truncated (${reason}), expected a complete one`;
  return new ScenedeltaError('image-unreadable', `${field}: the image ${detail}`, { field, cause });
}
