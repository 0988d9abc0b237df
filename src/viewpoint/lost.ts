/**
 * Parts of a frame that the camera or the decoder lost: filled with one colour (grey, green, black, a recorder's card),
 * drawn down from the last good row, or put together from displaced blocks. A fill has no noise, which every part of a
 * picture from a sensor has.
 */
import { type Box, connectedCells, type RgbImage, type Side } from '../base/images.js';
import { BLOCK, type Cells, cellsOf, displacedCells, indicesWhere } from './lost-cells.js';

export type LossReason = 'signal_lost' | 'picture_damaged';

/** The parts of a frame that show nothing of the scene. */
export interface LostView {
  /** rectangles of whole cells, fractions of the frame, from the top down */
  readonly lost: readonly Box[];
  /** share of the frame that they cover, 0..1 */
  readonly share: number;
  /** signal_lost: one colour fills the part; picture_damaged: its rows or blocks are repeated or displaced */
  readonly reason: LossReason;
}

/** Mean difference of neighbouring rows, levels, below which a cell is constant: noise of 0.3 levels exceeds it. */
const CONSTANT = 0.35;
/** Greatest distance of a fill's cells from its colour, levels. */
const ONE_COLOUR = 1;
/** Greatest distances from black, which a coder's ripples brighten, most of all in colour: no level is below it. */
const BLACK = [0, 0, 0];
const ONE_BLACK = { green: 2, other: 8 };
/** Difference of colour from which the other frame shows another fill, levels. */
const OTHER_COLOUR = 12;
/** Least share of the frame that a loss covers. */
const LEAST_SHARE = 0.02;
/** Least share of the rectangle around a fill that it fills: decoders lose whole rows and rectangles of blocks. */
const LEAST_FILLED = 0.9;
/**
 * Least variation of a cell of a picture, in it or from the one above, levels; and least share of a fill where the
 * other frame has such cells.
 */
const PICTURE = 0.05;
const LEAST_PICTURE = 0.3;
/** Fills that a night or a glare also has: only a straight edge inside the frame distinguishes a loss. */
const DARK = 24;
const BRIGHT = 240;
/** Greatest distance of a row of cells from the one above that it repeats, and least spread of its colours, levels. */
const REPEATED = 1.5;
const LEAST_SPREAD = 4;
/** Share of a row that repeats the one above. */
const MOST = 0.95;
/**
 * Flat ground hardly varies from row to row, but only a decoder repeats it exactly: mean variation down, levels.
 * `cell`: variation in half of the row of the other frame, because a thing in a drawn picture varies in few places.
 */
const EXACT = { most: 0.02, other: 0.3, cell: 0.1, leastSpread: 1 };

/**
 * @param before of the same view as `after`
 * @returns the loss of each frame; null: none that can be seen, or frames of different sizes
 */
export function findLosses(before: RgbImage, after: RgbImage): Readonly<Record<Side, LostView | null>> {
  if (before.width !== after.width || before.height !== after.height) return { before: null, after: null };
  const [old, present] = [cellsOf(before), cellsOf(after)];
  return { before: lossOf(before, after, old, present), after: lossOf(after, before, present, old) };
}

/** Least share of a card that has its colour; the rest is text and a logo. */
const CARD = 0.6;

/** Whether a frame is a card: one exact colour fills most of it, as recorders send it without a signal. */
export function isCard(frame: RgbImage): boolean {
  const shown = cellsOf(frame);
  const flat = flatCells(shown);
  const [colour] = frequentColours(flat, shown, 1);
  return (
    colour !== undefined &&
    flat.filter((i) => distance(shown, i, colour) <= ONE_COLOUR).length >= CARD * shown.columns * shown.rows
  );
}

const flatCells = ({ vertical, horizontal }: Cells): number[] =>
  indicesWhere(vertical.length, (i) => (vertical[i] as number) <= CONSTANT && (horizontal[i] as number) <= CONSTANT);

/** @param shown cells of `frame`. @param known cells of `other` */
function lossOf(frame: RgbImage, other: RgbImage, shown: Cells, known: Cells): LostView | null {
  const least = LEAST_SHARE * shown.columns * shown.rows;
  if (least === 0) return null;
  const filled = filledCells(shown, known, least);
  if (filled.length > 0) return lostView(filled, shown, 'signal_lost');
  const repeated = repeatedRows(shown, known);
  if (repeated.length >= least) return lostView(repeated, shown, 'picture_damaged');
  const displaced = displacedCells(frame, other, shown);
  return displaced.length > 0 ? lostView(displaced, shown, 'picture_damaged') : null;
}

/** Cells of rectangles of one colour, which the other frame does not have there. */
function filledCells(shown: Cells, known: Cells, least: number): number[] {
  const flat = flatCells(shown);
  return [BLACK, ...frequentColours(flat, shown, least)].flatMap((colour) => {
    const open = new Uint8Array(shown.vertical.length);
    const isOfFill = colourTest(colour, shown);
    for (const i of flat) if (isOfFill(i)) open[i] = 1;
    return flat.flatMap((start) => {
      if (open[start] !== 1) return [];
      const connected = connectedCells(open, start, shown.columns);
      // A glare fills rows in part.
      const cells = Math.min(...colour) > BRIGHT ? connected : fullLines(connected, shown);
      return cells.length >= least && isFill(cells, colour, shown, known) ? cells : [];
    });
  });
}

/**
 * The cells of full rows, or else of full columns: along its edge a fill has cells in part, and is seldom thick enough
 * to outweigh them.
 */
function fullLines(cells: readonly number[], { columns, rows }: Cells): number[] {
  const counts = [new Map<number, number>(), new Map<number, number>()] as const;
  const lineOf = (i: number) => [Math.floor(i / columns), i % columns] as const;
  for (const i of cells) {
    for (const [n, line] of lineOf(i).entries()) counts[n]?.set(line, (counts[n].get(line) ?? 0) + 1);
  }
  const full = ([columns, rows] as const).map((length, n) =>
    cells.filter((i) => (counts[n]?.get(lineOf(i)[n] as number) ?? 0) >= LEAST_FILLED * length),
  );
  return full.find((kept) => kept.length > 0) ?? [];
}

type Colour = readonly number[];

/** The most frequent colours of cells, at most eight. */
function frequentColours(cells: readonly number[], { colour }: Cells, least: number): Colour[] {
  const groups = new Map<number, number[]>();
  const levelOf = (i: number) => Math.round((colour[i] as number) / (2 * ONE_COLOUR));
  for (const i of cells) {
    const key = (levelOf(i * 3) * 256 + levelOf(i * 3 + 1)) * 256 + levelOf(i * 3 + 2);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [i]);
    else group.push(i);
  }
  const frequent = [...groups.values()].filter(({ length }) => length * 2 >= least);
  return frequent
    .sort((a, b) => b.length - a.length)
    .slice(0, 8)
    .map((group) => medianColour(group, colour));
}

const medianColour = (cells: readonly number[], colour: Float32Array): Colour =>
  [0, 1, 2].map((c) => {
    const sorted = Float32Array.from(cells, (i) => colour[i * 3 + c] as number).sort();
    return sorted[sorted.length >> 1] as number;
  });

/** @param from three levels from `offset` on. A loop, because it runs for each cell of each frame. */
function distance({ colour }: Cells, i: number, from: ArrayLike<number>, offset = 0): number {
  let most = 0;
  for (let c = 0; c < 3; c++) {
    most = Math.max(most, Math.abs((colour[i * 3 + c] as number) - (from[offset + c] as number)));
  }
  return most;
}

/** Whether cells are of a fill's colour. It runs for each cell of each frame. */
function colourTest(fill: Colour, { colour }: Cells): (i: number) => boolean {
  const [red, green, blue] = fill as [number, number, number];
  const isBlack = Math.max(red, green, blue) < DARK;
  const [ofGreen, ofOther] = isBlack ? [ONE_BLACK.green, ONE_BLACK.other] : [ONE_COLOUR, ONE_COLOUR];
  return (i) =>
    Math.abs((colour[3 * i + 1] as number) - green) <= ofGreen &&
    Math.abs((colour[3 * i] as number) - red) <= ofOther &&
    Math.abs((colour[3 * i + 2] as number) - blue) <= ofOther;
}

function isFill(cells: readonly number[], colour: Colour, shown: Cells, known: Cells): boolean {
  const around = rectangleAround(cells, shown.columns);
  const area = (around.right - around.left + 1) * (around.bottom - around.top + 1);
  if (cells.length < LEAST_FILLED * area) return false;
  // A loss reaches from side to side or from top to bottom; a thing of one colour seldom does.
  const isAcross = around.left <= 1 && around.right >= shown.columns - 2;
  const isDown = around.top <= 1 && around.bottom >= shown.rows - 2;
  if (!isAcross && !isDown) return false;
  // A drawn picture has flat parts everywhere.
  const varies = (i: number) =>
    (known.vertical[i] as number) > PICTURE ||
    (i >= known.columns && distance(known, i, known.colour, (i - known.columns) * 3) > PICTURE);
  if (cells.filter(varies).length < LEAST_PICTURE * cells.length) return false;
  const was = medianColour(cells, known.colour);
  const wasOneColour = cells.filter((i) => distance(known, i, was) <= 3 * ONE_COLOUR).length >= 0.9 * cells.length;
  const change = Math.max(...was.map((level, c) => Math.abs(level - (colour[c] as number))));
  if (wasOneColour && change <= OTHER_COLOUR) return false;
  const isExtreme = Math.max(...colour) < DARK || Math.min(...colour) > BRIGHT;
  return !isExtreme || hasStraightEdge(around, colour, shown);
}

/** Cells of rows that repeat the row above, in which the other frame has other rows. */
function repeatedRows(shown: Cells, known: Cells): number[] {
  const { columns, rows, side } = shown;
  const found = new Set<number>();
  const runs: Record<'repeats' | 'isExact', number[]> = { repeats: [], isExact: [] };
  for (let y = 1; y < rows; y++) {
    const row = Array.from({ length: columns }, (_, x) => y * columns + x);
    const compared = comparedWithAbove(row, shown, known);
    for (const kind of ['repeats', 'isExact'] as const) {
      const run = compared[kind] ? [...runs[kind], ...row] : [];
      runs[kind] = run;
      // Strong compression repeats the rows of half a block, too; the row above the run is alike.
      if ((run.length / columns) * side >= (3 * BLOCK) / 4) for (const i of run) found.add(i);
    }
  }
  return [...found];
}

/** Whether a row of cells repeats the one above in most places, and whether exactly; the other frame does not. */
function comparedWithAbove(row: readonly number[], shown: Cells, known: Cells) {
  const { columns, vertical, colour } = shown;
  const stepDown = (cells: Cells, i: number) => distance(cells, i, cells.colour, (i - columns) * 3);
  const mean = (levelOf: (i: number) => number) => row.reduce((sum, i) => sum + levelOf(i), 0) / columns;
  const variationOf = (cells: Cells) => (i: number) => (cells.vertical[i] as number) + stepDown(cells, i);
  const greenOf = (i: number) => colour[i * 3 + 1] as number;
  // First, because it decides about nearly every row.
  const same = row.filter((i) => (vertical[i] as number) <= CONSTANT && stepDown(shown, i) <= REPEATED);
  if (same.length < MOST * columns) return { repeats: false, isExact: false };
  const green = mean(greenOf);
  const spread = Math.sqrt(mean((i) => (greenOf(i) - green) ** 2));
  if (spread < EXACT.leastSpread) return { repeats: false, isExact: false };
  const differed = row.filter((i) => (known.vertical[i] as number) > CONSTANT || stepDown(known, i) > REPEATED);
  const [variation, other] = [variationOf(shown), variationOf(known)];
  return {
    repeats: spread >= LEAST_SPREAD && differed.length >= columns / 3,
    isExact:
      mean(variation) <= EXACT.most &&
      mean(other) >= EXACT.other &&
      row.filter((i) => other(i) > EXACT.cell).length >= columns / 2,
  };
}

type Rectangle = Record<'left' | 'top' | 'right' | 'bottom', number>;

function rectangleAround(cells: readonly number[], columns: number): Rectangle {
  const around = { left: columns, top: Number.MAX_SAFE_INTEGER, right: 0, bottom: 0 };
  for (const i of cells) {
    const [x, y] = [i % columns, Math.floor(i / columns)];
    around.left = Math.min(around.left, x);
    around.right = Math.max(around.right, x);
    around.top = Math.min(around.top, y);
    around.bottom = Math.max(around.bottom, y);
  }
  return around;
}

/** Whether something else begins along most of one side of the rectangle, inside the frame. */
function hasStraightEdge({ left, top, right, bottom }: Rectangle, colour: Colour, shown: Cells): boolean {
  const { columns, rows, side } = shown;
  // Up to one block of the coder along the edge is half lost and ripples.
  const block = Math.ceil(BLOCK / side);
  const isOther = (x: number, y: number) => distance(shown, y * columns + x, colour) > OTHER_COLOUR;
  const along = (from: number, to: number, shows: (at: number) => boolean) => {
    const length = to - from + 1;
    return indicesWhere(length, (n) => shows(from + n)).length >= 0.7 * length;
  };
  /** @param edge first line of the fill, counted from the border of the frame. @returns the line to look at, if any */
  const beyond = (edge: number) => (edge >= Math.max(2, block) ? Math.max(0, edge - 1 - block) : null);
  const [above, below] = [beyond(top), beyond(rows - 1 - bottom)];
  const [before, behind] = [beyond(left), beyond(columns - 1 - right)];
  return (
    (above !== null && along(left, right, (x) => isOther(x, above))) ||
    (below !== null && along(left, right, (x) => isOther(x, rows - 1 - below))) ||
    (before !== null && along(top, bottom, (y) => isOther(before, y))) ||
    (behind !== null && along(top, bottom, (y) => isOther(columns - 1 - behind, y)))
  );
}

/**
 * One rectangle per run of rows whose lost cells begin and end alike. They are larger by a cell on each side, because
 * the cells at the edge are lost in part.
 */
function lostView(cells: readonly number[], shown: Cells, reason: LossReason): LostView {
  const { columns, rows, width, height, side } = shown;
  const spans = new Map<number, { left: number; right: number }>();
  for (const i of cells) {
    const [x, row] = [i % columns, Math.floor(i / columns)];
    const [left, right] = [Math.max(0, x - 1), Math.min(columns - 1, x + 1)];
    for (let y = Math.max(0, row - 1); y <= Math.min(rows - 1, row + 1); y++) {
      const span = spans.get(y) ?? { left, right };
      spans.set(y, { left: Math.min(span.left, left), right: Math.max(span.right, right) });
    }
  }
  const rectangles: Rectangle[] = [];
  for (const [y, { left, right }] of [...spans].sort(([a], [b]) => a - b)) {
    const last = rectangles.at(-1);
    if (last?.bottom === y - 1 && last.left === left && last.right === right) last.bottom = y;
    else rectangles.push({ left, right, top: y, bottom: y });
  }
  const toBox = ({ left, top, right, bottom }: Rectangle): Box => {
    const [x, y] = [(left * side) / width, (top * side) / height];
    const end = right === columns - 1 ? 1 : ((right + 1) * side) / width;
    const lower = bottom === rows - 1 ? 1 : ((bottom + 1) * side) / height;
    return { x, y, width: end - x, height: lower - y };
  };
  const lost = rectangles.map(toBox);
  return { lost, share: lost.reduce((sum, box) => sum + box.width * box.height, 0), reason };
}
