/** One place in the frames of a camera: whether two frames show the same there, and the sentence if they do not. */
import { createHash } from 'node:crypto';
import { areaOf, type Box, inFrame } from '../../base/images.js';
import { overlapOf, type Polygon, polygonArea } from '../../base/polygon.js';
import { locationsOf } from '../../camera/changes/locations.js';
import { observationOf } from '../../camera/changes/observation.js';
import type { DecodeLimits } from '../../frames/header.js';
import { maskFrame } from '../../frames/privacy-mask.js';
import sharp from '../../frames/sharp.js';
import { write } from '../../language/write.js';
import type { Comparer, PairOutput } from '../../pipeline/pair.js';
import type { Finding } from '../../schemas/comparison.js';
import { keepRegions } from '../../schemas/finding.js';
import type { PlaceChange } from '../../schemas/place-search.js';
import { outlinesOf } from '../run/outlines.js';

export interface PlaceFrame {
  readonly bytes: Uint8Array;
  readonly key: string;
  /** the surroundings of the place alone; the frame itself if the place is large */
  readonly near: { readonly bytes: Uint8Array; readonly key: string };
}

/** A region is at the place if this share of the smaller of both lies in the other one (set, not fitted). */
const MIN_SHARED = 0.3;
/** The surroundings are this many times as wide and high as the place, and at least a share of the frame. */
const MARGIN = 2;
const LEAST_SHARE = 0.5;
/** A smaller part of a frame shows too little for the registration of both views, px. */
const LEAST_SIDE = 240;
const JPEG_QUALITY = 95;

export interface PlaceOptions {
  /** in fractions of the frame */
  readonly polygon: Polygon;
  /** painted black before a frame is compared or kept */
  readonly privacy: readonly Polygon[];
  readonly decodeLimits: DecodeLimits;
  readonly signal: AbortSignal;
}

export class Place {
  readonly #pipeline: Comparer;
  readonly #privacy: readonly Polygon[];
  readonly #decodeLimits: DecodeLimits;
  /** smallest rectangle around the place */
  readonly #roi: Box;
  readonly #polygon: Polygon;
  readonly #signal: AbortSignal;

  constructor(pipeline: Comparer, { polygon, privacy, decodeLimits, signal }: PlaceOptions) {
    this.#pipeline = pipeline;
    this.#privacy = privacy;
    this.#decodeLimits = decodeLimits;
    this.#polygon = polygon;
    this.#roi = boundsOf(polygon);
    this.#signal = signal;
  }

  /** @throws ScenedeltaError of the decoder, if a frame cannot be masked */
  async prepare(encoded: Uint8Array): Promise<PlaceFrame> {
    const limits = { ...this.#decodeLimits, field: 'frame' };
    const bytes = this.#privacy.length === 0 ? encoded : await maskFrame(encoded, this.#privacy, limits);
    const frame = { bytes, key: sha256(bytes) };
    const { autoOrient } = await sharp(bytes).metadata();
    const box = surroundings(this.#roi);
    const [left, top] = [Math.floor(box.x * autoOrient.width), Math.floor(box.y * autoOrient.height)];
    const width = Math.min(Math.ceil(box.width * autoOrient.width), autoOrient.width - left);
    const height = Math.min(Math.ceil(box.height * autoOrient.height), autoOrient.height - top);
    if (areaOf(box) === 1 || Math.min(width, height) < LEAST_SIDE) return { ...frame, near: frame };
    const near = await sharp(bytes)
      .autoOrient()
      .extract({ left, top, width, height })
      .jpeg({ quality: JPEG_QUALITY })
      .toBuffer();
    return { ...frame, near: { bytes: near, key: sha256(near) } };
  }

  /** Weather and light do not change a place; a view that is blocked may hide a change. */
  async isSame(before: PlaceFrame, after: PlaceFrame): Promise<boolean> {
    const isPart = before.near !== before;
    const { finding } = await this.#compare(before.near, after.near, false);
    if (finding.verdict === 'tamper') return false;
    if (finding.verdict !== 'change') return true;
    const isHere = (box: Box) => this.#isAtPlace(isPart ? inFrame(box, surroundings(this.#roi)) : box);
    return finding.regions.length > 0 && !finding.regions.some(({ box }) => isHere(box));
  }

  /** The change between two frames of which the place is not the same. */
  async describe(before: PlaceFrame, after: PlaceFrame): Promise<PlaceChange> {
    const compared = await this.#compare(before, after, true);
    const atPlace = keepRegions(compared.finding, (region) => (this.#isAtPlace(region.box) ? region : null));
    if (atPlace.regions.length > 0) return changeOf({ ...compared.finding, ...atPlace }, compared);
    // The whole frame is too coarse for this place. Sentences about a part of it would name wrong directions.
    const near = await this.#compare(before.near, after.near, false);
    const regions = near.finding.regions
      .map((region) => ({ ...region, box: inFrame(region.box, surroundings(this.#roi)) }))
      .filter(({ box }) => this.#isAtPlace(box))
      .map((region, i) => ({ ...region, id: i + 1 }));
    return changeOf({ ...near.finding, regions, statements: [] }, null);
  }

  #compare(before: PlaceFrame['near'], after: PlaceFrame['near'], statements: boolean): Promise<PairOutput> {
    return this.#pipeline.compare({
      before: before.bytes,
      after: after.bytes,
      beforeKey: before.key,
      afterKey: after.key,
      statements,
      signal: this.#signal,
    });
  }

  #isAtPlace(box: Box): boolean {
    const shared = overlapOf(box, this.#polygon) * areaOf(box);
    return shared >= MIN_SHARED * Math.min(areaOf(box), polygonArea(this.#polygon));
  }
}

function changeOf(finding: Finding, shown: PairOutput | null): PlaceChange {
  const observation = observationOf(finding, { comparisonId: '', at: 0, frame: 0 });
  const [location] = locationsOf(observation);
  return {
    kind: location?.kind ?? 'replace',
    caption: write(location?.caption ?? finding.caption),
    confidence: finding.confidence,
    regions: finding.regions,
    outlines: shown?.heatmaps == null ? [] : outlinesOf(shown.heatmaps, finding.regions),
  };
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** The corners of a rectangle. */
export const cornersOf = ({ x, y, width, height }: Box): Polygon => [
  [x, y],
  [x + width, y],
  [x + width, y + height],
  [x, y + height],
];

/** The smallest rectangle around a polygon. */
export function boundsOf(polygon: Polygon): Box {
  const [xs, ys] = [polygon.map(([x]) => x), polygon.map(([, y]) => y)];
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}

function surroundings({ x, y, width, height }: Box): Box {
  const [w, h] = [width, height].map((side) => Math.min(1, Math.max(side * MARGIN, LEAST_SHARE))) as [number, number];
  const begin = (middle: number, side: number) => Math.min(Math.max(middle - side / 2, 0), 1 - side);
  return { x: begin(x + width / 2, w), y: begin(y + height / 2, h), width: w, height: h };
}
