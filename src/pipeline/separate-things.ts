/**
 * Separation of things that are regions of one location: a person has left, and a bag that the person put down is
 * there. One crop around both would be described as one thing. The names of what each frame shows decide.
 */
import { OTHER_SIDE } from '../base/images.js';
import { cosine, softmax } from '../base/logistic.js';
import type { CropNames, PairNames } from '../model/graph-io.js';
import { classShares, type LikelyClass, type Names, thingNames } from '../model/naming.js';
import type { MapRegion, RegionCrop } from '../model/regions.js';

/** From this probability on, two regions are of two things, and a crop shows a thing (set, not fitted). */
const LEAST = 0.5;

/** From this cosine of the colours on, two pictures may show one vehicle; set on cameras of tier A (ADR 18). */
const SAME_PAINT = 0.7;

/** Probability that each of two pictures shows a thing, and that these are of different classes, 0..1 */
export function differenceOfClasses(one: CropNames, other: CropNames, names: Names): number {
  const [a, b] = [classesOf(one, names), classesOf(other, names)];
  const same = [...a.shares].reduce((sum, [word, share]) => sum + share * (b.shares.get(word) ?? 0), 0);
  return (1 - a.nothing) * (1 - b.nothing) * (1 - same);
}

/**
 * Whether two pictures show vehicles of different colours: on a road another one is where the first one was. People are
 * not compared, because a turn shows other clothes.
 */
function areOtherVehicles(one: CropNames, other: CropNames, names: Names): boolean {
  if (![one, other].every((shown) => probabilityOfClass(shown, 'vehicle', names) >= LEAST)) return false;
  return cosine(softmax(one.colours), softmax(other.colours)) < SAME_PAINT;
}

/** Whether a location has regions of both frames, which show different things. */
export const showsTwoThings = (
  { regions }: Pick<RegionCrop, 'regions'>,
  { before, after }: PairNames,
  names: Names,
): boolean =>
  regions.length > 1 && (differenceOfClasses(before, after, names) >= LEAST || areOtherVehicles(before, after, names));

/**
 * The region of a location in which the crop around all of it shows no thing, while the other frame's shows one: a
 * small thing beside a large one is seen only in a crop of its own.
 */
export function unseenRegion(
  { regions }: Pick<RegionCrop, 'regions'>,
  shown: PairNames,
  names: Names,
): MapRegion | undefined {
  return regions.length < 2
    ? undefined
    : regions.find(({ side }) => !showsThing(shown[side], names) && showsThing(shown[OTHER_SIDE[side]], names));
}

/**
 * Whether a region shows a thing of another class than its location does, and not an edge that the other thing hides.
 * @param apart names of the crop around the region
 * @param location names of the crop around the location
 */
export const isSeparateThing = ({ side }: MapRegion, apart: PairNames, location: PairNames, names: Names): boolean =>
  differenceOfClasses(apart[side], location[OTHER_SIDE[side]], names) >= LEAST;

const showsThing = (shown: CropNames, names: Names): boolean => classesOf(shown, names).nothing < LEAST;

/** Probability that a picture shows a thing of a class, 0..1 */
function probabilityOfClass(shown: CropNames, word: LikelyClass['value'], names: Names): number {
  const { nothing, shares } = classesOf(shown, names);
  return (1 - nothing) * (shares.get(word) ?? 0);
}

/** The probability that a picture shows no thing, and those of the classes of a thing. */
export function classesOf(shown: CropNames, names: Names) {
  const thing = thingNames([shown], names);
  return { nothing: thing.nothing, shares: classShares(thing, names) };
}
