/**
 * Far people side by side: the pixels show them apart where the caption graph and the cells of the change map see one
 * (training/journal/levels.md).
 */
import type { RgbImage, Side } from '../base/images.js';
import type { MapRegion } from '../model/regions.js';
import type { SeenThing } from '../schemas/seen-thing.js';
import { seenThings } from './seen-things.js';

/** Largest region, as a share of the frame's height: of nearer people the limbs are apart, too. */
const HIGHEST = 0.25;
/** Greatest width of the region by its height in pixels: a person who lies is wider. */
const WIDEST = 1.5;
/** Least height of a person by the tallest one's, and by the person's width. */
const [AS_TALL, UPRIGHT] = [0.8, 1.3];
/** Least share of a person's box that differs between the frames: a shadow fills less. */
const FILLED = 0.35;

/**
 * @param frames of one size, `after` in the view of `before`
 * @param region that shows people
 * @returns whether the pixels show several upright things of like height
 */
export function showsPeopleApart(frames: Readonly<Record<Side, RgbImage>>, region: MapRegion): boolean {
  const { width, height } = frames.after;
  const { box } = region;
  const isOfOneSize = frames.before.width === width && frames.before.height === height;
  if (!isOfOneSize || box.height > HIGHEST || box.width * width > WIDEST * box.height * height) return false;
  const things = seenThings(frames, [{ ...region, id: 1 }], { region: (same) => same });
  const tallest = Math.max(...things.map((thing) => thing.box.height));
  const isPerson = ({ box: tight, filled }: SeenThing): boolean =>
    filled >= FILLED && tight.height >= AS_TALL * tallest && tight.height * height >= UPRIGHT * tight.width * width;
  return things.filter(isPerson).length > 1;
}
