/**
 * Background model of a camera: per light one image of the scene without the things that come and go. A background
 * begins as a whole frame and then approaches the frames slowly, except where they differ from it. A thing that stays
 * (a parked car) becomes part of it only when its change settles (`absorb`), no matter how many frames hide it until
 * then (rain, another light). Pure.
 */
import type { Box, RgbImage } from '../../base/images.js';
import type { Finding } from '../../schemas/comparison.js';
import { LIGHTS, type Light } from './light.js';

/** One background. Its field names are those of the stored camera state. @typeParam R reference to the stored pixels */
export interface Background<R> {
  readonly frame: R;
  readonly width: number;
  readonly height: number;
  /** capture time of the last frame that it took pixels from, epoch ms */
  readonly learnedAt: number;
}
export type BackgroundModel<R> = { readonly [L in Light]?: Background<R> };

/** Light changes over minutes; and while a background stays the same, its features stay in the cache. */
export const UPDATE_INTERVAL_MS = 300_000;
/**
 * Levels of 0..255 per update, as in a running median: a thing that no comparison found needs many updates to become
 * visible.
 */
const MAX_STEP = 6;
/**
 * Margin around a region, as a share of the frame's width: region borders are inexact, and shadows lie beside things.
 */
const MARGIN = 0.02;
/**
 * Frames in a row of a light without a background before one begins while tracks are pending or open, because these
 * settle with it: one dark or grey frame (a camera that restarts) must not end what is open.
 */
const LIGHT_FRAMES = 3;
/** Age up to which a background of another size waits for the end of a change, which hidden frames never confirm. */
const MOST_ENDING_MS = 2 * UPDATE_INTERVAL_MS;
/** Largest camera motion of a frame that updates the background, as a share of the frame's width. */
const MAX_SHIFT = 0.01;

/** @returns the background of this light, otherwise of the most similar light; null if there is none */
export function nearestBackground<R>(
  model: BackgroundModel<R>,
  light: Light,
): { light: Light; background: Background<R> } | null {
  const distance = (other: Light) => Math.abs(LIGHTS.indexOf(other) - LIGHTS.indexOf(light));
  const [nearest] = LIGHTS.filter((other) => model[other] !== undefined).sort((a, b) => distance(a) - distance(b));
  if (nearest === undefined) return null;
  return { light: nearest, background: model[nearest] as Background<R> };
}

/**
 * replace: the frame becomes the background of its light; blend: the background approaches the frame; keep: it stays as
 * it is.
 */
type BackgroundUpdate = 'replace' | 'blend' | 'keep';

export interface UpdateContext {
  /** null: there was nothing to compare with */
  readonly finding: Pick<Finding, 'verdict' | 'regions' | 'viewpoint' | 'lost'> | null;
  /** capture time, epoch ms */
  readonly at: number;
  readonly width: number;
  readonly height: number;
  /** a track of this camera awaits its confirmation against this background */
  readonly pending: boolean;
  /** the end of an open change awaits its confirmation against this background */
  readonly ending: boolean;
  /** pending and open tracks */
  readonly undecided: readonly unknown[];
  /** a single frame of another size, which the background does not follow */
  readonly isStray: boolean;
  /** frames in a row, this one included, that had the light of this frame */
  readonly lightFrames: number;
  /** locations that have settled with this frame */
  readonly absorb: readonly unknown[];
}

/** @param background of the frame's own light; undefined if there is none */
export function chooseUpdate(background: Background<unknown> | undefined, context: UpdateContext): BackgroundUpdate {
  const { finding, at, width, height, pending, ending, undecided, absorb } = context;
  if (finding === null || finding.lost?.side === 'before') return 'replace';
  if (context.isStray) return 'keep';
  // A covered or turned camera and a damaged frame do not show the scene; a shifted view would draw every edge twice.
  if (finding.verdict === 'tamper' || finding.lost !== undefined || hasShifted(finding, width)) return 'keep';
  const unchanged = finding.verdict === 'none' || finding.verdict === 'nuisance';
  if (background === undefined || background.width !== width || background.height !== height) {
    if (absorb.length > 0) return 'replace';
    // A frame of another size shows the end as well; one of another light may hide it for long.
    if (ending && background !== undefined && at - background.learnedAt < MOST_ENDING_MS) return 'keep';
    // Tracked things become part of the new background and settle; without one the camera would be blind in this light.
    const lasts = undecided.length === 0 || context.lightFrames >= LIGHT_FRAMES;
    return unchanged && lasts ? 'replace' : 'keep';
  }
  if (absorb.length > 0) return 'blend';
  if (pending || at - background.learnedAt < UPDATE_INTERVAL_MS) return 'keep';
  // A change without regions may be anywhere.
  return unchanged || finding.regions.length > 0 ? 'blend' : 'keep';
}

/**
 * Whether the view lies too far from that of the background to become part of it. A mast that sways in the wind stays
 * below MAX_SHIFT. @param width of the frame, px
 */
export const hasShifted = ({ viewpoint }: Pick<Finding, 'viewpoint'>, width: number): boolean =>
  viewpoint !== undefined && 'moved' in viewpoint && viewpoint.moved && viewpoint.shift_px > MAX_SHIFT * width;

/**
 * @param background has the size of the frame; neither is written to
 * @param boxes.protect boxes of differences, or of tracks when they were last seen: the background keeps its pixels
 *   there
 * @param boxes.absorb boxes whose pixels the background copies from the frame
 * @returns the updated background
 * @throws RangeError if the sizes differ
 */
export function blend(
  background: RgbImage,
  frame: RgbImage,
  boxes: { readonly protect: readonly Box[]; readonly absorb: readonly Box[] },
): RgbImage {
  const { width, height } = background;
  if (frame.width !== width || frame.height !== height) {
    throw new RangeError(
      `the frame has ${frame.width}x${frame.height} px, expected ${width}x${height} like the background`,
    );
  }
  const data = new Uint8Array(background.data.length);
  for (let i = 0; i < data.length; i++) {
    const old = background.data[i] as number;
    const difference = (frame.data[i] as number) - old;
    data[i] = old + Math.max(-MAX_STEP, Math.min(MAX_STEP, difference));
  }
  const blended = { width, height, data };
  for (const box of boxes.protect) copyBox(background, blended, box);
  for (const box of boxes.absorb) copyBox(frame, blended, box);
  return blended;
}

/** Copies the box and its margin between two images of the same size. */
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
