/** People in the regions of a pair: how many came, left or moved there, as a detector sees them (ADR 19). */
import { areaOf, type Box, inFrame, type RgbImage, type Side, sharedArea } from '../base/images.js';
import type { InferencePool } from '../inference/pool.js';
import type { PairNames } from '../model/graph-io.js';
import type { Bundle } from '../model/manifest.js';
import type { Names } from '../model/naming.js';
import { cropOfRegion, type MapRegion, type RegionCrop, toPixels } from '../model/regions.js';
import { pixelDiffers } from './seen-things.js';
import { probabilityOfClass } from './separate-things.js';

/** Boxes of the people of a region, fractions of the frame; empty: it is unknown who is there. */
export type PeopleIn = (region: MapRegion) => readonly Box[];

export const nobody: PeopleIn = () => [];

type FramePair = Readonly<Record<Side, RgbImage>>;

/** From this probability on, a region shows people: the detector costs 8 ms of a thread per region. */
const SHOWS_PEOPLE = 0.3;
/** Most regions of a pair that are examined, the strongest first; a sentence has three clauses. */
const MOST_REGIONS = 4;
/** Least height of a person, as a share of the region's: less is a part of one, or a person far behind. */
const AS_HIGH = 0.6;
/** Least share of the region that the only person fills. */
const ALONE = 0.5;
/** Least share of a person's box that differs between the frames: a person in both has not changed. */
const CHANGED = 0.2;
/** Least share of it that differs and is in no better box: the detector may see a third person between two. */
const OWN = 0.1;
/** Pixels of a box that are compared, along each side. */
const SAMPLED = 48;

/**
 * Runs the detector on the regions whose names say that they show people, each in the frame that shows it.
 * @param crops the locations, with `names` of what they show in the same order
 * @returns no people of any region if the bundle has no detector, or the frames differ in size
 */
export async function peopleOfRegions(
  pool: InferencePool,
  { manifest }: Bundle,
  frames: FramePair,
  crops: readonly RegionCrop[],
  names: readonly PairNames[],
): Promise<PeopleIn> {
  const { people: rule, names: words, glance } = manifest;
  const { width, height } = frames.after;
  const isOfOneSize = frames.before.width === width && frames.before.height === height;
  if (rule === undefined || words === undefined || glance === null || !isOfOneSize) return nobody;
  const people = new Map<MapRegion, readonly Box[]>();
  // A task per region, so that the threads share them: a run of two regions takes twice as long.
  const count = async (region: MapRegion) => {
    const frame = frames[region.side];
    const { crop } = cropOfRegion(region, frame, { ...glance, ...rule });
    const box = toPixels(crop, frame);
    const input = { frame, boxes: [box], width: rule.size, height: rule.size };
    const [found = []] = await pool.run('people', manifest.name, input);
    const boxes = found.map((person) => inFrame(person.box, crop));
    people.set(region, knownPeople(region.box, distinctPeople(region.box, boxes, frames)));
  };
  await Promise.all(peopledRegions(crops, names, words).map(count));
  return (region) => people.get(region) ?? [];
}

/** @returns the regions that the detector examines, the strongest first */
export const peopledRegions = (
  crops: readonly RegionCrop[],
  names: readonly PairNames[],
  words: Names,
): readonly MapRegion[] =>
  crops
    .flatMap(({ regions }, i) => regions.filter(({ side }) => showsPeople((names[i] as PairNames)[side], words)))
    .slice(0, MOST_REGIONS);

const showsPeople = (shown: PairNames[Side], words: Names): boolean =>
  probabilityOfClass(shown, 'person', words) >= SHOWS_PEOPLE;

/** @param boxes of a crop around the region, the best first */
function distinctPeople(region: Box, boxes: readonly Box[], frames: FramePair): readonly Box[] {
  const people: Box[] = [];
  for (const box of boxes) {
    const hasChanged = isOfRegion(box, region) && changedShare(box, frames) >= CHANGED;
    if (hasChanged && changedShare(box, frames, people) >= OWN) people.push(box);
  }
  return people;
}

/** One person who fills little of a region may have another beside, whom the detector does not recognise. */
function knownPeople(region: Box, people: readonly Box[]): readonly Box[] {
  const [only, ...others] = people;
  const isAlone = only !== undefined && others.length === 0;
  return isAlone && sharedArea(only, region) < ALONE * areaOf(region) ? [] : people;
}

function isOfRegion({ x, y, width, height }: Box, region: Box): boolean {
  const [middle, centre] = [x + width / 2 - region.x, y + height / 2 - region.y];
  const isInside = middle >= 0 && middle <= region.width && centre >= 0 && centre <= region.height;
  return isInside && height >= AS_HIGH * region.height;
}

/** Share of a box that differs between the frames and is in none of the others. */
function changedShare(box: Box, { before, after }: FramePair, others: readonly Box[] = []): number {
  const { width, height } = after;
  const [left, right] = [box.x, box.x + box.width].map((x) => clamp(Math.round(x * width), width)) as [number, number];
  const [top, bottom] = [box.y, box.y + box.height].map((y) => clamp(Math.round(y * height), height)) as [
    number,
    number,
  ];
  const step = {
    x: Math.max(1, Math.floor((right - left) / SAMPLED)),
    y: Math.max(1, Math.floor((bottom - top) / SAMPLED)),
  };
  let [differ, all] = [0, 0];
  for (let y = top; y < bottom; y += step.y) {
    for (let x = left; x < right; x += step.x) {
      all++;
      if (others.some((other) => isInside(x / width, y / height, other))) continue;
      if (pixelDiffers(before.data, after.data, (y * width + x) * 3)) differ++;
    }
  }
  return differ / Math.max(1, all);
}

const isInside = (x: number, y: number, box: Box): boolean =>
  x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;

const clamp = (value: number, most: number): number => Math.min(Math.max(value, 0), most);
