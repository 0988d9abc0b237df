/**
 * The clean-plate memory: for each light, how the place looks when nothing has changed. A plate begins as a whole frame and then
 * follows the frames slowly, except where something differs: a car that parks becomes part of it only when the life of its change
 * says so (`absorb`), however long that takes, whether or not every frame until then shows it (rain, another light). Pure.
 */

import type { Box, RgbImage } from '../images.js';
import type { Finding } from '../schemas/comparison.js';
import { LIGHTS, type Light } from './light.js';

/** @typeParam R how a plate's pixels are referred to */
export interface Plate<R> {
  readonly frame: R;
  readonly width: number;
  readonly height: number;
  /** captured time of the last frame it took something from, epoch ms */
  readonly learnedAt: number;
}
export type Memory<R> = { readonly [L in Light]?: Plate<R> };

/** Light changes over minutes; a plate that stays the same for a while also keeps its features in the cache. */
export const LEARN_EVERY_MS = 300_000;
/** In levels of 0..255 and lesson: what was overlooked (a shadow, a leaf) needs many lessons to get in, as in a running median. */
const STEP = 6;
/** Around a region, as a share of the frame's width: its edge is not exact, and shadows lie beside it. */
const MARGIN = 0.02;
/** Of the frame's width: a camera whose view is further from the plate's than this shows another view. */
const STRAYED = 0.01;

/** The plate of this light, or else of the most similar one: better than nothing, and the captioner knows changes of light. */
export function plateFor<R>(memory: Memory<R>, light: Light): { light: Light; plate: Plate<R> } | null {
  const distance = (other: Light) => Math.abs(LIGHTS.indexOf(other) - LIGHTS.indexOf(light));
  const nearest = LIGHTS.filter((other) => memory[other] !== undefined).sort(
    (a, b) => distance(a) - distance(b),
  )[0];
  if (nearest === undefined) return null;
  return { light: nearest, plate: memory[nearest] as Plate<R> };
}

/** start: the frame becomes the plate of its light; learn: the plate takes a little of it; keep: nothing of it. */
export type Lesson = 'start' | 'learn' | 'keep';

export interface Occasion {
  readonly finding: Pick<Finding, 'verdict' | 'regions' | 'viewpoint'>;
  /** captured time, epoch ms */
  readonly at: number;
  readonly width: number;
  readonly height: number;
  /** something that the frame shows waits for its confirmation against this plate */
  readonly pending: boolean;
  /** places that are normal from now on */
  readonly absorb: readonly unknown[];
}

/** A mast that trembles in the wind may teach; a view that has gone further would teach every edge twice. */
const hasStrayed = ({ finding: { viewpoint }, width }: Occasion): boolean =>
  viewpoint !== undefined && 'moved' in viewpoint && viewpoint.moved && viewpoint.shift_px > STRAYED * width;

/** @param plate of the frame's own light; undefined where there is none */
export function lessonFor(plate: Plate<unknown> | undefined, occasion: Occasion): Lesson {
  const { finding, at, pending } = occasion;
  // What a covered or turned camera sees is not the place.
  if (finding.verdict === 'tamper' || hasStrayed(occasion)) return 'keep';
  const unchanged = finding.verdict === 'none' || finding.verdict === 'nuisance';
  if (plate === undefined || plate.width !== occasion.width || plate.height !== occasion.height) {
    // With all that the frame has, what is followed among it: that settles there (workFrame), or the camera would be blind until daylight.
    return unchanged || occasion.absorb.length > 0 ? 'start' : 'keep';
  }
  if (occasion.absorb.length > 0) return 'learn';
  if (pending || at - plate.learnedAt < LEARN_EVERY_MS) return 'keep';
  // A change that nobody can place could be anywhere.
  return unchanged || finding.regions.length > 0 ? 'learn' : 'keep';
}

/**
 * @param plate and frame are of one size; neither is written to
 * @param places.protect boxes in which something differs, or did when it could last be seen: the plate keeps what it has there
 * @param places.absorb boxes that the plate takes from the frame as they are
 * @returns the plate afterwards.
 */
export function learn(
  plate: RgbImage,
  frame: RgbImage,
  places: { readonly protect: readonly Box[]; readonly absorb: readonly Box[] },
): RgbImage {
  const { width, height } = plate;
  if (frame.width !== width || frame.height !== height) {
    throw new RangeError(
      `the frame has ${frame.width}x${frame.height} px, expected ${width}x${height} as the plate has`,
    );
  }
  const data = new Uint8Array(plate.data.length);
  for (let i = 0; i < data.length; i++) {
    const old = plate.data[i] as number;
    const difference = (frame.data[i] as number) - old;
    data[i] = old + Math.max(-STEP, Math.min(STEP, difference));
  }
  const learned = { width, height, data };
  for (const box of places.protect) copyBox(plate, learned, box);
  for (const box of places.absorb) copyBox(frame, learned, box);
  return learned;
}

/** The box and its margin, from one image to another of the same size. */
function copyBox(from: RgbImage, to: RgbImage, box: Box): void {
  const { width, height } = from;
  const margin = Math.ceil(MARGIN * width);
  const left = Math.max(0, Math.floor(box.x * width) - margin);
  const right = Math.min(width, Math.ceil((box.x + box.width) * width) + margin);
  const top = Math.max(0, Math.floor(box.y * height) - margin);
  const bottom = Math.min(height, Math.ceil((box.y + box.height) * height) + margin);
  for (let y = top; y < bottom; y++) {
    const start = (y * width + left) * 3;
    to.data.set(from.data.subarray(start, (y * width + right) * 3), start);
  }
}
