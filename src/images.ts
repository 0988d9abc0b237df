/** The few shapes that every folder speaks of. Layout, range and origin are said here, once. No I/O. */

/** 8-bit sRGB, row-major, three bytes a pixel, origin top left, EXIF orientation already applied. */
export interface RgbImage {
  readonly width: number;
  readonly height: number;
  /** length = width * height * 3 */
  readonly data: Uint8Array;
}

/** Pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * How far two aspect ratios may be apart, of either, and still be one view: coders round, and what is squashed to one
 * input bears it.
 */
export const ASPECT_TOLERANCE = 0.02;

/** Whether two frames have the same aspect ratio, within ASPECT_TOLERANCE. */
export const sameAspectRatio = (a: Size, b: Size): boolean =>
  Math.abs(a.width / a.height / (b.width / b.height) - 1) <= ASPECT_TOLERANCE;

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

export const areaOf = ({ width, height }: Box): number => width * height;

/** Area of the intersection. */
export function sharedArea(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return width <= 0 || height <= 0 ? 0 : width * height;
}

export const SIDES = ['before', 'after'] as const;
/** Which of the two frames something is seen in. */
export type Side = (typeof SIDES)[number];
