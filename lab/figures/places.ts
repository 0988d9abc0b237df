/**
 * Check of the places that a sentence states. Boxes confirm parts of the frame and ways of moving. No box shows a
 * landmark: the references of the same pair confirm it.
 */
import type { Box } from '../../src/base/images.js';
import type { StatedPlace } from '../../src/language/people/places.js';
import { isInThird } from '../../src/language/place.js';

/** The true position of a thing; boxes in fractions of the frame. */
interface TruePosition {
  readonly before: readonly Box[];
  readonly after: readonly Box[];
  /** landmarks that the references name */
  readonly landmarks: ReadonlySet<string>;
}

// The distance that counts as a motion, in fractions of the frame.
const MOVED = 0.02;
const centreX = (box: Box): number => box.x + box.width / 2;
const foot = (box: Box): number => box.y + box.height;

/** @returns null if it cannot be checked: a landmark that no reference names, or no box */
export function isPlaceTrue(place: StatedPlace, { before, after, landmarks }: TruePosition): boolean | null {
  if (place.landmark !== undefined) return landmarks.has(place.landmark) ? true : null;
  const boxes = [...before, ...after];
  if (boxes.length === 0) return null;
  // A way of moving is checked by the motion if both frames have boxes, and by the position otherwise.
  if (place.motion === true && before.length > 0 && after.length > 0) return movedThatWay(place, before, after);
  return boxes.some(
    (box) =>
      (place.horizontal === undefined || isInThird(place.horizontal, centreX(box))) &&
      (place.depth === undefined || inDepth(place.depth, box)),
  );
}

/** Near is the lower half and far the upper two thirds of the frame, by the lower edge of the box. */
const inDepth = (depth: 'near' | 'far', box: Box): boolean =>
  depth === 'near' ? foot(box) >= 1 / 2 : foot(box) <= 2 / 3;

/** Several boxes count by their mean, because the labels do not pair the boxes of both frames. */
function movedThatWay({ horizontal, depth }: StatedPlace, before: readonly Box[], after: readonly Box[]): boolean {
  const from = { x: mean(before, centreX), foot: mean(before, foot), height: mean(before, heightOf) };
  const to = { x: mean(after, centreX), foot: mean(after, foot), height: mean(after, heightOf) };
  const right = to.x - from.x;
  const down = to.foot - from.foot;
  const inwards = Math.abs(from.x - 1 / 2) - Math.abs(to.x - 1 / 2);
  const sideways =
    horizontal === undefined ||
    (horizontal === 'middle'
      ? isInThird('middle', to.x) && inwards > MOVED
      : (horizontal === 'left' ? -right : right) > MOVED);
  const depthways =
    depth === undefined ||
    (depth === 'near'
      ? down > MOVED || to.height > from.height * 1.05
      : down < -MOVED || to.height < from.height / 1.05);
  return sideways && depthways;
}

const heightOf = (box: Box): number => box.height;
const mean = (boxes: readonly Box[], of: (box: Box) => number): number =>
  boxes.reduce((sum, box) => sum + of(box), 0) / boxes.length;

/** Whether at least one of the stated places is confirmed and none is false. */
export function isPlaceRight(places: readonly StatedPlace[], where: TruePosition): boolean {
  const verdicts = places.map((place) => isPlaceTrue(place, where));
  return verdicts.includes(true) && !verdicts.includes(false);
}
