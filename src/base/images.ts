/** Types of images, heatmaps and boxes that all folders share, with their layout, range and origin. */

/** 8-bit sRGB, row-major, three bytes per pixel, origin top left, EXIF orientation already applied. */
export interface RgbImage {
  readonly width: number;
  readonly height: number;
  /** length = width * height * 3 */
  readonly data: Uint8Array;
}

/** In pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Levels of deep grey that become black and white. */
export interface LevelRange {
  readonly low: number;
  readonly high: number;
}

/** A frame at reduced size, as YCbCr 4:2:0. All frames of one camera are reduced alike. */
export interface Preview extends Size {
  /** levels 0..255, row-major, origin top left, EXIF orientation already applied; length = width * height */
  readonly luma: Uint8Array;
  /** at half the width and height, rounded down; absent: a grey preview, which shows no change of colour alone */
  readonly chroma?: { readonly blue: Uint8Array; readonly red: Uint8Array };
  /** upright size of the encoded frame */
  readonly source: Size;
}

/**
 * Largest relative difference of two aspect ratios that count as equal: coders round sizes, and resizing both frames to
 * one input hides a small difference.
 */
export const ASPECT_TOLERANCE = 0.02;

/** Whether two frames have the same aspect ratio, within ASPECT_TOLERANCE. */
export const sameAspectRatio = (a: Size, b: Size): boolean =>
  Math.abs(a.width / a.height / (b.width / b.height) - 1) <= ASPECT_TOLERANCE;

/** A map over a whole frame: row-major, values 0..1, origin top left; its grid is usually coarser than the frame. */
export interface Heatmap {
  readonly width: number;
  readonly height: number;
  /** length = width * height */
  readonly data: Float32Array;
}

/** In fractions of the frame's width and height (0..1), origin top left; x, y is the top left corner. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export const FULL_FRAME: Box = { x: 0, y: 0, width: 1, height: 1 };

export const areaOf = ({ width, height }: Box): number => width * height;

/** @returns the area of the intersection of both boxes */
export function sharedArea(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return width <= 0 || height <= 0 ? 0 : width * height;
}

/** The smallest box around both. */
export function union(a: Box, b: Box): Box {
  const x = Math.min(a.x, b.x);
  const y = Math.min(a.y, b.y);
  return {
    x,
    y,
    width: Math.max(a.x + a.width, b.x + b.width) - x,
    height: Math.max(a.y + a.height, b.y + b.height) - y,
  };
}

/** @param box in fractions of `part`. @returns it in fractions of the frame, of which `part` is a box */
export const inFrame = (box: Box, part: Box): Box => ({
  x: part.x + box.x * part.width,
  y: part.y + box.y * part.height,
  width: box.width * part.width,
  height: box.height * part.height,
});

/** @returns the share of the smaller box that both have in common, 0..1 */
export const overlap = (a: Box, b: Box): number => sharedArea(a, b) / Math.min(areaOf(a), areaOf(b));

/** Whether both boxes have at least this share of the smaller one in common. */
export const overlapsBy = (a: Box, b: Box, share: number): boolean =>
  sharedArea(a, b) >= share * Math.min(areaOf(a), areaOf(b));

/** Whether at least half of a box lies in parts, which hardly overlap each other. */
export const isMostlyIn = (box: Box, parts: readonly Box[]): boolean =>
  2 * parts.reduce((sum, part) => sum + sharedArea(box, part), 0) >= areaOf(box);

/** Distance between two boxes along the axis on which they are further apart; 0 if they touch or overlap. */
export const boxDistance = (a: Box, b: Box): number =>
  Math.max(a.x - (b.x + b.width), b.x - (a.x + a.width), a.y - (b.y + b.height), b.y - (a.y + a.height), 0);

export const SIDES = ['before', 'after'] as const;
/** One of the two frames of a comparison. */
export type Side = (typeof SIDES)[number];
export const OTHER_SIDE: Readonly<Record<Side, Side>> = { before: 'after', after: 'before' };

/** Distance of a box from an object, in lengths of the object. */
export const lengthsBetween = (object: Box, other: Box): number =>
  boxDistance(object, other) / Math.max(object.width, object.height);

/** @returns the box in units of 1/10,000 of the frame, for states and records */
export const roundedBox = ({ x, y, width, height }: Box): Box => ({
  x: Number(x.toFixed(4)),
  y: Number(y.toFixed(4)),
  width: Number(width.toFixed(4)),
  height: Number(height.toFixed(4)),
});

/**
 * The cells of a map that are connected with one, by their sides, or also by their corners; this one first.
 * @param open row by row; 1: not yet taken. The cells returned become 2
 */
export function connectedCells(open: Uint8Array, start: number, columns: number, corners = false): number[] {
  const cells = [start];
  open[start] = 2;
  // The loop appends to the list that it walks.
  for (const cell of cells) {
    const x = cell % columns;
    const left = x > 0 ? cell - 1 : -1;
    const right = x + 1 < columns ? cell + 1 : -1;
    const near = [left, right, cell - columns, cell + columns];
    if (corners) near.push(...[left, right].flatMap((next) => (next < 0 ? [] : [next - columns, next + columns])));
    for (const next of near) {
      if (open[next] !== 1) continue;
      open[next] = 2;
      cells.push(next);
    }
  }
  return cells;
}

/** The box around cells of a map, of which there is at least one. */
export function boxOfCells(cells: readonly number[], columns: number, rows: number): Box {
  let [left, top, right, bottom] = [columns, rows, 0, 0];
  for (const cell of cells) {
    const x = cell % columns;
    const y = (cell - x) / columns;
    left = Math.min(left, x);
    right = Math.max(right, x + 1);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y + 1);
  }
  return { x: left / columns, y: top / rows, width: (right - left) / columns, height: (bottom - top) / rows };
}
