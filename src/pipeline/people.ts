/** People in the changed regions of a pair, as a detector sees them: a second witness of the class and the number. */
import { areaOf, type Box, inFrame, type RgbImage, type Side, sharedArea } from '../base/images.js';
import type { InferencePool } from '../inference/pool.js';
import type { PersonRow } from '../model/judge-schema.js';
import type { Bundle } from '../model/manifest.js';
import type { DetectedPerson } from '../model/people.js';
import { cropOfRegion, type MapRegion, toPixels } from '../model/regions.js';
import { pixelDiffers } from './differing-pixels.js';
import { type Judge, judged } from './judge.js';

type FramePair = Readonly<Record<Side, RgbImage>>;

/**
 * Most locations, and regions, of a pair that are examined one by one, the strongest first: a row of the caption graph
 * costs 4 ms, a run of the detector 8 ms of a thread (`npm run bench:model`).
 */
export const MOST_EXAMINED = 6;
/** Pixels of a box that are compared, along each side. */
const SAMPLED = 48;

/** The boxes of the detector around the regions. */
export interface Detections {
  readonly boxes: ReadonlyMap<MapRegion, readonly DetectedPerson[]>;
  /** the reason if it failed on a region, which then has no boxes; the other witnesses describe it */
  readonly failure: string | null;
}

/**
 * Runs the detector on the strongest regions, each in the frame that shows it.
 * @param regions of the locations, the strongest first
 */
export async function detectPeople(
  pool: Pick<InferencePool, 'run'>,
  { manifest }: Pick<Bundle, 'manifest'>,
  frames: FramePair,
  regions: readonly MapRegion[],
): Promise<Detections> {
  const { people: rule, glance } = manifest;
  if (rule === undefined || glance === null) return { boxes: new Map(), failure: null };
  // A task per region, so that the threads share them: a run of two regions takes twice as long.
  const detect = async (region: MapRegion): Promise<[MapRegion, DetectedPerson[]]> => {
    const frame = frames[region.side];
    const { crop } = cropOfRegion(region, frame, { ...glance, ...rule });
    const input = { frame, boxes: [toPixels(crop, frame)], width: rule.size, height: rule.size };
    const [found = []] = await pool.run('people', manifest.name, input);
    return [region, found.map((person) => ({ ...person, box: inFrame(person.box, crop) }))];
  };
  const settled = await Promise.allSettled(regions.slice(0, MOST_EXAMINED).map(detect));
  const failed = settled.find((one) => one.status === 'rejected');
  return {
    boxes: new Map(settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))),
    failure: failed === undefined ? null : String(failed.reason?.message ?? failed.reason),
  };
}

/** The namer's and the decoder's evidence about the region, as columns of the row of each of its boxes. */
export type NamedRegion = Readonly<Record<'person' | 'vehicle' | 'nothing' | 'decodedPerson', number>>;

export interface ExaminedBox {
  readonly box: Box;
  readonly row: PersonRow;
  readonly probability: number;
}

/**
 * @param boxes of the detector about the region, the best first
 * @returns each box with its evidence; a box that shares its pixels with better people has little of its own
 */
export function examinePeople(
  region: Box,
  boxes: readonly DetectedPerson[],
  frames: FramePair,
  named: NamedRegion,
  judge: Pick<Judge, 'person' | 'levels'>,
): ExaminedBox[] {
  const people: Box[] = [];
  return boxes
    .filter(({ box }) => isCentredIn(box, region))
    .map(({ box, score }) => {
      const row: PersonRow = {
        score,
        fill: sharedArea(box, region) / areaOf(region),
        inside: sharedArea(box, region) / areaOf(box),
        separate: changedShare(box, frames, people),
        ...named,
      };
      const probability = judged(judge.person, row);
      if (probability >= judge.levels.person) people.push(box);
      return { box, row, probability };
    });
}

function isCentredIn({ x, y, width, height }: Box, region: Box): boolean {
  const [middle, centre] = [x + width / 2 - region.x, y + height / 2 - region.y];
  return middle >= 0 && middle <= region.width && centre >= 0 && centre <= region.height;
}

/** Share of a box that differs between the frames and is in none of the others. */
function changedShare(box: Box, { before, after }: FramePair, others: readonly Box[]): number {
  const { width, height } = after;
  const [left, right, across] = sampled(box.x, box.width, width);
  const [top, bottom, down] = sampled(box.y, box.height, height);
  let [differ, all] = [0, 0];
  for (let y = top; y < bottom; y += down) {
    for (let x = left; x < right; x += across) {
      all++;
      if (others.some((other) => isInside(x / width, y / height, other))) continue;
      if (pixelDiffers(before.data, after.data, (y * width + x) * 3)) differ++;
    }
  }
  return differ / Math.max(1, all);
}

/** The pixels between the borders of a box along one side, and the step from one that is read to the next. */
function sampled(start: number, length: number, all: number): [from: number, to: number, step: number] {
  const pixel = (at: number): number => Math.min(Math.max(Math.round(at * all), 0), all);
  const [from, to] = [pixel(start), pixel(start + length)];
  return [from, to, Math.max(1, Math.floor((to - from) / SAMPLED))];
}

const isInside = (x: number, y: number, box: Box): boolean =>
  x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
