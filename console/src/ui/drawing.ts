/** Shapes that are drawn on a frame: followed with mouse, pen or finger, or moved with the arrow keys. */

/** Share of the frame, from its left and upper side. */
export type Point = readonly [x: number, y: number];

/** Width of a drawing, in units; its height follows the frame. */
export const WIDTH = 1000;

const STEP = 0.005;
const LONG_STEP = 0.05;
const ARROWS: Readonly<Record<string, Point>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** @returns the way of an arrow key, longer with Shift; undefined for every other key */
export function arrowStep({ key, shiftKey }: KeyboardEvent): Point | undefined {
  const [x, y] = ARROWS[key] ?? [];
  if (x === undefined || y === undefined) return undefined;
  const step = shiftKey ? LONG_STEP : STEP;
  return [x * step, y * step];
}

export function pointIn(drawing: Element, { clientX, clientY }: MouseEvent): Point {
  const { left, top, width, height } = drawing.getBoundingClientRect();
  return [(clientX - left) / width, (clientY - top) / height];
}

/** Follows the pointer from its press on a handle to its release. */
export function follow(event: PointerEvent, onMove: (moved: PointerEvent) => void): void {
  event.preventDefault();
  event.stopPropagation();
  const handle = event.currentTarget as SVGElement;
  handle.focus();
  handle.setPointerCapture(event.pointerId);
  const end = () => {
    handle.removeEventListener('pointermove', onMove);
    handle.removeEventListener('pointerup', onMove);
    handle.removeEventListener('lostpointercapture', end);
  };
  handle.addEventListener('pointermove', onMove);
  // Browsers may deliver the last position with the release alone.
  handle.addEventListener('pointerup', onMove);
  handle.addEventListener('lostpointercapture', end);
}

const DECIMALS = 4;

/** @returns the coordinate within the frame */
export const inFrame = (value: number): number => Number(Math.min(Math.max(value, 0), 1).toFixed(DECIMALS));

/** @returns the part of the way after which no value leaves the frame */
export const boundedWay = (way: number, values: readonly number[]): number =>
  Math.min(Math.max(way, -Math.min(...values)), 1 - Math.max(...values));
