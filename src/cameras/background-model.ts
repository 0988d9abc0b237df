/**
 * The clean-background memory: for each light, how the place looks when nothing has changed. A background begins as a whole frame and then
 * follows the frames slowly, except where something differs: a car that parks becomes part of it only when the life of its change
 * says so (`absorb`), however long that takes, whether or not every frame until then shows it (rain, another light). Pure.
 */

import type { Box, RgbImage } from '../images.js';
import type { Finding } from '../schemas/comparison.js';
import { LIGHTS, type Light } from './light.js';

/** @typeParam R how a background's pixels are referred to */
export interface Background<R> {
  readonly frame: R;
  readonly width: number;
  readonly height: number;
  /** captured time of the last frame it took something from, epoch ms */
  readonly learnedAt: number;
}
export type BackgroundModel<R> = { readonly [L in Light]?: Background<R> };

/** Light changes over minutes; a background that stays the same for a while also keeps its features in the cache. */
export const UPDATE_INTERVAL_MS = 300_000;
/** In levels of 0..255 and lesson: what was overlooked (a shadow, a leaf) needs many lessons to get in, as in a running median. */
const STEP = 6;
/** Around a region, as a share of the frame's width: its edge is not exact, and shadows lie beside it. */
const MARGIN = 0.02;
/** Of the frame's width: a camera whose view is further from the background's than this shows another view. */
const STRAYED = 0.01;

/** The background of this light, or else of the most similar one: better than nothing, and the captioner knows changes of light. */
export function nearestBackground<R>(
  memory: BackgroundModel<R>,
  light: Light,
): { light: Light; background: Background<R> } | null {
  const distance = (other: Light) => Math.abs(LIGHTS.indexOf(other) - LIGHTS.indexOf(light));
  const nearest = LIGHTS.filter((other) => memory[other] !== undefined).sort(
    (a, b) => distance(a) - distance(b),
  )[0];
  if (nearest === undefined) return null;
  return { light: nearest, background: memory[nearest] as Background<R> };
}

/** start: the frame becomes the background of its light; learn: the background takes a little of it; keep: nothing of it. */
export type BackgroundUpdate = 'start' | 'learn' | 'keep';

export interface UpdateContext {
  readonly finding: Pick<Finding, 'verdict' | 'regions' | 'viewpoint'>;
  /** captured time, epoch ms */
  readonly at: number;
  readonly width: number;
  readonly height: number;
  /** something that the frame shows waits for its confirmation against this background */
  readonly pending: boolean;
  /** places that are normal from now on */
  readonly absorb: readonly unknown[];
}

/** A mast that trembles in the wind may teach; a view that has gone further would teach every edge twice. */
const hasStrayed = ({ finding: { viewpoint }, width }: UpdateContext): boolean =>
  viewpoint !== undefined && 'moved' in viewpoint && viewpoint.moved && viewpoint.shift_px > STRAYED * width;

/** @param background of the frame's own light; undefined where there is none */
export function chooseUpdate(
  background: Background<unknown> | undefined,
  occasion: UpdateContext,
): BackgroundUpdate {
  const { finding, at, pending } = occasion;
  // What a covered or turned camera sees is not the place.
  if (finding.verdict === 'tamper' || hasStrayed(occasion)) return 'keep';
  const unchanged = finding.verdict === 'none' || finding.verdict === 'nuisance';
  if (
    background === undefined ||
    background.width !== occasion.width ||
    background.height !== occasion.height
  ) {
    // With all that the frame has, what is followed among it: that settles there (processFrame), or the camera would be blind until daylight.
    return unchanged || occasion.absorb.length > 0 ? 'start' : 'keep';
  }
  if (occasion.absorb.length > 0) return 'learn';
  if (pending || at - background.learnedAt < UPDATE_INTERVAL_MS) return 'keep';
  // A change that nobody can place could be anywhere.
  return unchanged || finding.regions.length > 0 ? 'learn' : 'keep';
}

/**
 * @param background and frame are of one size; neither is written to
 * @param places.protect boxes in which something differs, or did when it could last be seen: the background keeps what it has there
 * @param places.absorb boxes that the background takes from the frame as they are
 * @returns the background afterwards.
 */
export function learn(
  background: RgbImage,
  frame: RgbImage,
  places: { readonly protect: readonly Box[]; readonly absorb: readonly Box[] },
): RgbImage {
  const { width, height } = background;
  if (frame.width !== width || frame.height !== height) {
    throw new RangeError(
      `the frame has ${frame.width}x${frame.height} px, expected ${width}x${height} as the background has`,
    );
  }
  const data = new Uint8Array(background.data.length);
  for (let i = 0; i < data.length; i++) {
    const old = background.data[i] as number;
    const difference = (frame.data[i] as number) - old;
    data[i] = old + Math.max(-STEP, Math.min(STEP, difference));
  }
  const learned = { width, height, data };
  for (const box of places.protect) copyBox(background, learned, box);
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
