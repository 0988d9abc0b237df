/** The few shapes that every folder speaks of. Layout, range and origin are said here, once. No I/O. */

/** 8-bit sRGB, row-major, three bytes a pixel, origin top left, EXIF orientation already applied. */
export interface RgbImage {
  readonly width: number;
  readonly height: number;
  /** length = width * height * 3 */
  readonly data: Uint8Array;
}

/** A map over a whole frame: row-major, values 0..1, origin top left; its grid is usually coarser than the frame's. */
export interface Heatmap {
  readonly width: number;
  readonly height: number;
  /** length = width * height */
  readonly data: Float32Array;
}

/** Fractions of the frame's width and height (0..1), origin top left; x, y is the top left corner. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export const SIDES = ['before', 'after'] as const;
/** Which of the two frames something is seen in. */
export type Side = (typeof SIDES)[number];
