/** The whole search for the moment at which a place changed: from the recordings of a camera to the record. */
import { invalidRequest } from '../../base/errors.js';
import type { Box } from '../../base/images.js';
import { overlapOf, type Polygon } from '../../base/polygon.js';
import type { DecodeLimits } from '../../frames/header.js';
import type { Comparer } from '../../pipeline/pair.js';
import type { PlaceInterval, PlaceSearch } from '../../schemas/place-search.js';
import { roundFigures } from '../../schemas/rounding.js';
import type { FootageItem } from '../inputs/recording-plan.js';
import { StillFrames, type StillOptions } from '../inputs/still-frames.js';
import { boundsOf, cornersOf, Place, type PlaceFrame } from './place.js';
import { findWhen, type Interval, mostLooks } from './when.js';

export interface PlaceSearchOptions extends StillOptions {
  /** a rectangle or a polygon, in fractions of the frame */
  readonly place: Box | Polygon;
  /** zones of the camera that are painted black on every frame, in fractions of the frame */
  readonly privacy: readonly Polygon[];
  readonly decodeLimits: DecodeLimits;
  /** longest time for which something may stand before the place, seconds */
  readonly covered: number;
  /** Starts the pipeline, once there are frames to compare. */
  readonly pipeline: () => Promise<Comparer>;
  /** @param share of the looks that the search may take at most */
  readonly onLook?: (looks: number, share: number) => Promise<void>;
}

export interface FoundPlaceSearch {
  readonly record: PlaceSearch;
  /** both frames of each interval, encoded, by name */
  readonly pictures: ReadonlyMap<string, Uint8Array>;
}

/** Share of the place in a privacy zone from which nothing of it is seen; below 1 for rounded corners. */
const HIDDEN = 0.999;

/**
 * The same recordings give the same result.
 * @param items the recordings of one camera, in the order of time
 * @param pathOf the path of a picture in the record, from its name; null: the record has none
 * @throws ScenedeltaError 'invalid-request' with fewer than two frames, or a place that privacy zones hide; of the
 *   frames, the pipeline and the signal
 */
export async function searchPlace(
  items: readonly FootageItem[],
  options: PlaceSearchOptions,
  pathOf: ((name: string) => string) | null,
): Promise<FoundPlaceSearch> {
  const { covered, signal, onLook, privacy, decodeLimits } = options;
  const polygon = isPolygon(options.place) ? options.place : cornersOf(options.place);
  if (privacy.some((zone) => overlapOf(boundsOf(polygon), zone) > HIDDEN)) {
    const why = 'the place lies in a privacy zone, in which every frame is black';
    throw invalidRequest(`${why}: expected a place that is seen`);
  }
  const frames = await StillFrames.of(items, options);
  try {
    const { count } = frames;
    if (count < 2) {
      const [first] = frames.failures;
      const why = first === undefined ? '' : `; the first failure is: ${first.file}: ${first.reason}`;
      const came = `the recording has ${count} of the frames, expected two or more${why}`;
      throw invalidRequest(came);
    }
    const place = new Place(await options.pipeline(), { polygon, privacy, decodeLimits, signal });
    let looks = 0;
    const result = await findWhen(
      {
        count,
        coveredFrames: Math.ceil(covered / frames.interval),
        moment: (index) => frames.moment(index),
        frame: async (index) => {
          const frame = await place.prepare(await frames.frame(index));
          await onLook?.(++looks, Math.min(1, looks / mostLooks(count)));
          return frame;
        },
      },
      (before, after) => place.isSame(before, after),
    );
    const pictures = new Map<string, Uint8Array>();
    const describe = async (name: string, interval: Interval<PlaceFrame> | null): Promise<PlaceInterval | null> => {
      if (interval === null) return null;
      const { before, after, exact } = interval;
      const [nameBefore, nameAfter] = [`${name}-before.jpg`, `${name}-after.jpg`];
      pictures.set(nameBefore, before.frame.bytes).set(nameAfter, after.frame.bytes);
      const change = await place.describe(before.frame, after.frame);
      const paths = pathOf && { pictures: { before: pathOf(nameBefore), after: pathOf(nameAfter) } };
      return { before: before.moment, after: after.moment, exact, change, ...paths };
    };
    const changed = await describe('changed', result.changed);
    const changedBack = await describe('changed-back', result.changedBack);
    const record: PlaceSearch = {
      v: 1,
      roi: boundsOf(polygon),
      ...(isPolygon(options.place) ? { polygon: options.place.map(([x, y]): [number, number] => [x, y]) } : {}),
      changed,
      changed_back: changedBack,
      frames: count,
      looks: result.looks,
      comparisons: result.comparisons,
      covered: [...result.covered],
      failures: [...frames.failures],
    };
    return { record: roundFigures(record), pictures };
  } finally {
    await frames.close();
  }
}

const isPolygon = (place: Box | Polygon): place is Polygon => Array.isArray(place);
