/**
 * The things of changed regions as the pixels show them: tight boxes, colours, and two neighbours apart whose cells
 * touch. A region ends at the borders of the change map's cells, which are as wide as a distant person; the difference
 * of the pixels is finer. Pure.
 */
import { type Box, type RgbImage, roundedBox, type Side } from '../images.js';
import type { Region } from '../schemas/comparison.js';
import type { SeenThing } from '../schemas/seen-thing.js';
import { connectedParts, type Grid, gridOf, without } from './pixel-parts.js';
import type { SourceFrameMapping } from './word-heatmaps.js';

/** A column between two things has at most this share of the lower of both peaks. */
const VALLEY = 0.75;
/** Least width of a thing that is separated, as a share of its height. */
const LEAST_WIDTH = 0.18;
/** A thing that is wider than this share of its height may be two. */
const WIDE = 0.38;
/** Columns and rows with less than this share of the fullest one are its border. */
const BORDER = 0.12;
/** Share of a box beside people from which it is a thing: a shadow fills less (chosen on streams). */
const FILLED = 0.5;
/** Pixels of such a thing (set): fewer are the noise of JPEG. */
const LEAST_PIXELS = 8;

const BANDS = [0, 0.28, 0.6, 1] as const;
/** Black, dark, grey, light, and six hues. */
const COLOURS = 10;

type Frames = Readonly<Record<Side, RgbImage>>;

/**
 * @param frames of one size, `after` in the view of `before`
 * @param regions of both
 * @param toSource of the boxes: to the view of `after` as it came
 * @param people boxes of those whom a detector saw, per region by its id - 1; none = the pixels decide
 * @returns at least one thing per region that the source shows; `region` counts these regions. Parts beside the people
 *   whom a detector saw come last
 */
export function seenThings(
  frames: Frames,
  regions: readonly Region[],
  { region: toSource }: Pick<SourceFrameMapping, 'region'>,
  people: readonly (readonly Box[])[] = [],
): SeenThing[] {
  const kept = regions.filter((region) => toSource(region) !== null);
  return kept.flatMap((region, at) => {
    const { side, box } = region;
    const seen = people[region.id - 1] ?? [];
    const spans = seen.length > 0 ? seen.map((person) => spanOf(frames, person)) : pixelSpans(frames, box);
    const toThing = ({ grid, from, to, top, bottom }: Span): SeenThing => {
      const { width, height } = frames[side];
      const tight = {
        x: (grid.left + from * grid.step) / width,
        y: (grid.top + top * grid.step) / height,
        width: ((to - from) * grid.step) / width,
        height: ((bottom - top) * grid.step) / height,
      };
      const shown = toSource({ ...region, box: tight })?.box ?? tight;
      return {
        region: at + 1,
        side,
        box: roundedBox(shown),
        ...coloursIn(frames[side], grid, { from, to, top, bottom }),
      };
    };
    const beside = seen.length > 0 ? spansBeside(frames, box, seen).map(toThing) : [];
    return [
      ...spans.map(toThing),
      ...beside.filter(({ filled }) => filled >= FILLED).map((part) => ({ ...part, beside: true as const })),
    ];
  });
}

interface Span {
  readonly grid: Grid;
  readonly from: number;
  readonly to: number;
  readonly top: number;
  readonly bottom: number;
}

function pixelSpans(frames: Frames, box: Box): Span[] {
  const grid = gridOf(frames, box);
  const parts = connectedParts(grid, frames.after, box);
  return (parts.length === 0 ? [grid] : parts).flatMap((part) =>
    columnSpans(part).map(([from, to]): Span => {
      const [top, bottom] = rowSpan(part, from, to);
      return { grid: part, from, to, top, bottom };
    }),
  );
}

/** The parts of a region outside the boxes of its people: a bag beside them, or a person whom the detector missed. */
function spansBeside(frames: Frames, box: Box, people: readonly Box[]): Span[] {
  const rest = without(gridOf(frames, box), people, frames.after);
  const parts = rest === null ? [] : connectedParts(rest, frames.after, box);
  return parts.filter(({ differs }) => differs.reduce((sum, one) => sum + one, 0) >= LEAST_PIXELS).map(borderOf);
}

function borderOf(grid: Grid): Span {
  const [from, to] = borders(columnCounts(grid));
  const [top, bottom] = rowSpan(grid, from, to);
  return { grid, from, to, top, bottom };
}

/** All that differs in a box. */
function spanOf(frames: Frames, box: Box): Span {
  const grid = gridOf(frames, box, 0);
  return { grid, from: 0, to: grid.width, top: 0, bottom: grid.height };
}

/** Pixels of each column that differ. */
const columnCounts = ({ width, height, differs }: Grid): number[] =>
  Array.from({ length: width }, (_, x) => {
    let sum = 0;
    for (let y = 0; y < height; y++) sum += differs[y * width + x] as number;
    return sum;
  });

/** The columns of each thing: the full span, or its parts between columns that differ little. */
function columnSpans(grid: Grid): [from: number, to: number][] {
  const counts = columnCounts(grid);
  const smooth = counts.map((_, x) => ((counts[x - 1] ?? 0) + 2 * (counts[x] as number) + (counts[x + 1] ?? 0)) / 4);
  const [from, to] = borders(smooth);
  return split(smooth, from, to, grid.height).map(([a, b]): [number, number] => {
    const [first, last] = borders(counts.slice(a, b));
    return [a + first, a + last];
  });
}

function split(profile: readonly number[], from: number, to: number, height: number): [number, number][] {
  if (to - from < WIDE * height) return [[from, to]];
  const least = Math.max(2, LEAST_WIDTH * height);
  const columns = profile.slice(from, to);
  const [peaksAhead, peaksBehind] = [highestSoFar(columns), highestSoFar(columns.reverse()).reverse()];
  let best: { readonly at: number; readonly depth: number } | null = null;
  for (let at = Math.ceil(from + least); at <= to - least; at++) {
    const peaks = [peaksAhead[at - 1 - from] as number, peaksBehind[at - from] as number];
    const depth = (profile[at] as number) / Math.max(1, Math.min(...peaks));
    if (depth <= VALLEY && (best === null || depth < best.depth)) best = { at, depth };
  }
  if (best === null) return [[from, to]];
  return [...split(profile, from, best.at, height), ...split(profile, best.at, to, height)];
}

function highestSoFar(values: readonly number[]): number[] {
  let highest = 0;
  return values.map((value) => {
    highest = Math.max(highest, value);
    return highest;
  });
}

function rowSpan({ width, height, differs }: Grid, from: number, to: number): [number, number] {
  const counts = Array.from({ length: height }, (_, y) => {
    let sum = 0;
    for (let x = from; x < to; x++) sum += differs[y * width + x] as number;
    return sum;
  });
  return borders(counts);
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
  grid: Grid,
  { from, to, top, bottom }: { from: number; to: number; top: number; bottom: number },
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
