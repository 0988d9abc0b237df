/**
 * The things of changed regions as the pixels show them: tight boxes, colours, and two neighbours apart whose cells
 * touch. A region ends at the borders of the change map's cells, which are as wide as a distant person; the difference
 * of the pixels is finer. Pure.
 */
import { areaOf, type Box, type RgbImage, roundedBox, type Side, sharedArea, union } from '../base/images.js';
import type { Region } from '../schemas/comparison.js';
import type { SeenThing } from '../schemas/seen-thing.js';
import { connectedParts, type Grid, gridOf } from './differing-pixels.js';
import type { SourceFrameMapping } from './word-heatmaps.js';

/** A column between two things has at most this share of the lower of both peaks. */
const VALLEY = 0.75;
/** Least width of a thing that is separated, as a share of its height. */
const LEAST_WIDTH = 0.18;
/** Columns and rows with less than this share of the fullest one are its border. */
const BORDER = 0.12;

const BANDS = [0, 0.28, 0.6, 1] as const;
/** Black, dark, grey, light, and six hues. */
const COLOURS = 10;

type FramePair = Readonly<Record<Side, RgbImage>>;

/** A thing of a region as the pixels show it; the box is in the view of `before`. */
export type TightThing = Pick<SeenThing, 'side' | 'box' | 'colours' | 'filled'>;

/**
 * @param frames of one size, `after` in the view of `before`
 * @param people boxes of those whom a detector saw in the region; none = the pixels decide
 * @returns at least one thing
 */
export function tightThings(
  frames: FramePair,
  { side, box: region }: Pick<Region, 'side' | 'box'>,
  people: readonly Box[],
): TightThing[] {
  const spans = people.length > 0 ? people.map((person) => spanOf(frames, person)) : pixelSpans(frames, region);
  const { width, height } = frames[side];
  return spans.map((span) => {
    const { from, to, top, bottom } = span;
    const { left, top: upper, step } = span.grid;
    const [x, y] = [(left + from * step) / width, (upper + top * step) / height];
    const box = { x, y, width: ((to - from) * step) / width, height: ((bottom - top) * step) / height };
    return { side, box, ...coloursIn(frames[side], span) };
  });
}

/**
 * The people whom a detector saw in a region. A lone one who fills less than half of it may have a neighbour, and then
 * the pixels decide.
 */
export function seenIn(frames: FramePair, region: Pick<Region, 'side' | 'box'>, people: readonly Box[]): TightThing[] {
  const [only, ...others] = people;
  const mayHaveNeighbour =
    only !== undefined && others.length === 0 && 2 * sharedArea(only, region.box) < areaOf(region.box);
  return tightThings(frames, region, mayHaveNeighbour ? [] : people);
}

/**
 * @param regions of the answer. @param people per region, those whom a detector saw there
 * @returns at least one thing per region that the frames show as they came; `region` counts these regions
 */
export const seenThings = <R extends Pick<Region, 'side' | 'box'>>(
  { frames, toSourceFrame: { region: toSource } }: { frames: FramePair; toSourceFrame: SourceFrameMapping },
  regions: readonly R[],
  people: ReadonlyMap<R, readonly Box[]>,
): SeenThing[] =>
  regions
    .filter((region) => toSource(region) !== null)
    .flatMap((region, at) =>
      seenIn(frames, region, people.get(region) ?? []).map(({ box, ...thing }): SeenThing => {
        const shown = toSource({ side: region.side, box })?.box ?? box;
        return { ...thing, region: at + 1, box: roundedBox(shown) };
      }),
    );

/** One thing around several fragments of it: their common box, and their colours by their pixels. */
export function joinedThing(things: readonly TightThing[]): TightThing {
  const [first, ...others] = things;
  if (first === undefined) throw new RangeError('no thing came, expected at least one');
  if (others.length === 0) return first;
  const box = things.map((thing) => thing.box).reduce(union);
  const pixels = things.map((thing) => thing.filled * areaOf(thing.box));
  const all = Math.max(
    Number.EPSILON,
    pixels.reduce((sum, count) => sum + count, 0),
  );
  const colours = first.colours.map(
    (_, i) => things.reduce((sum, thing, at) => sum + (thing.colours[i] as number) * (pixels[at] as number), 0) / all,
  );
  return { ...first, box, colours, filled: Math.min(1, all / areaOf(box)) };
}

/** A part of a grid. */
interface Span {
  readonly grid: Grid;
  readonly from: number;
  readonly to: number;
  readonly top: number;
  readonly bottom: number;
}

const pixelSpans = (frames: FramePair, box: Box): Span[] =>
  connectedParts(gridOf(frames, box), frames.after, box).flatMap((grid) =>
    columnSpans(grid).map(([from, to]): Span => {
      const [top, bottom] = rowSpan(grid, from, to);
      return { grid, from, to, top, bottom };
    }),
  );

/** All that differs in a box. */
function spanOf(frames: FramePair, box: Box): Span {
  const grid = gridOf(frames, box, 0);
  return { grid, from: 0, to: grid.width, top: 0, bottom: grid.height };
}

/** The columns of each thing: the full span, or its parts between columns that differ little. */
function columnSpans(grid: Grid): [from: number, to: number][] {
  const { width, height } = grid;
  const counts = Array.from({ length: width }, (_, x) => countIn(grid, [x, x + 1], [0, height]));
  const smooth = counts.map((_, x) => ((counts[x - 1] ?? 0) + 2 * (counts[x] as number) + (counts[x + 1] ?? 0)) / 4);
  const [from, to] = borders(smooth);
  return split(smooth, from, to, height).map(([a, b]): [number, number] => {
    const [first, last] = borders(counts.slice(a, b));
    return [a + first, a + last];
  });
}

const rowSpan = (grid: Grid, from: number, to: number): [number, number] =>
  borders(Array.from({ length: grid.height }, (_, y) => countIn(grid, [from, to], [y, y + 1])));

/** The pixels that differ, of some columns and rows; the ends are excluded. */
function countIn({ width, differs }: Grid, [left, right]: readonly number[], [top, bottom]: readonly number[]): number {
  let sum = 0;
  for (let y = top as number; y < (bottom as number); y++) {
    for (let x = left as number; x < (right as number); x++) sum += differs[y * width + x] as number;
  }
  return sum;
}

function split(profile: readonly number[], from: number, to: number, height: number): [number, number][] {
  const least = Math.max(2, LEAST_WIDTH * height);
  let best: { readonly at: number; readonly depth: number } | null = null;
  for (let at = Math.ceil(from + least); at <= to - least; at++) {
    const peaks = [profile.slice(from, at), profile.slice(at, to)].map((part) => Math.max(...part));
    const depth = (profile[at] as number) / Math.max(1, Math.min(...peaks));
    if (depth <= VALLEY && (best === null || depth < best.depth)) best = { at, depth };
  }
  if (best === null) return [[from, to]];
  return [...split(profile, from, best.at, height), ...split(profile, best.at, to, height)];
}

/** The first and the last entry above the border's share of the largest, the end excluded. */
function borders(profile: readonly number[]): [number, number] {
  const least = BORDER * Math.max(...profile);
  const first = profile.findIndex((count) => count > least);
  const last = profile.findLastIndex((count) => count > least);
  return first < 0 ? [0, profile.length] : [first, last + 1];
}

function coloursIn(
  { data, width }: RgbImage,
  { grid, from, to, top, bottom }: Span,
): Pick<SeenThing, 'colours' | 'filled'> {
  const colours: number[] = [];
  let filled = 0;
  for (let band = 0; band < BANDS.length - 1; band++) {
    const counts = new Array<number>(COLOURS).fill(0);
    let sum = 0;
    const edge = (share: number) => Math.round(top + share * (bottom - top));
    for (let y = edge(BANDS[band] as number); y < edge(BANDS[band + 1] as number); y++) {
      for (let x = from; x < to; x++) {
        if (grid.differs[y * grid.width + x] === 0) continue;
        const at = ((grid.top + y * grid.step) * width + grid.left + x * grid.step) * 3;
        const colour = colourOf(data[at] as number, data[at + 1] as number, data[at + 2] as number);
        counts[colour] = (counts[colour] as number) + 1;
        sum++;
      }
    }
    filled += sum;
    colours.push(...counts.map((count) => Math.round((100 * count) / Math.max(1, sum))));
  }
  return { colours, filled: Number((filled / Math.max(1, (to - from) * (bottom - top))).toFixed(2)) };
}

/** @returns 0 to 3: black to light, of grey; 4 to 9: hues from red on, 60 degrees each */
function colourOf(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  const chroma = most - Math.min(red, green, blue);
  if (chroma < 24 || chroma < most / 4) return most < 48 ? 0 : most < 96 ? 1 : most < 160 ? 2 : 3;
  const sector =
    most === red ? (green - blue) / chroma : most === green ? 2 + (blue - red) / chroma : 4 + (red - green) / chroma;
  return 4 + ((Math.round(sector) + 6) % 6);
}
