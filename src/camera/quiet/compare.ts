/**
 * The rule of quiet frames: whether a preview equals that of the camera's last examined frame, except for noise, light
 * and shake. Start reading at `comparePreviews`. Pure.
 */
import type { Preview } from '../../base/images.js';
import { colourPerTile } from './colour.js';
import { FITTED, type Fitted } from './fitted.js';
import { explain } from './light-and-shake.js';
import { type NoiseModel, noiseLevels, TILE, type TileDifferences, tilesOf } from './noise.js';
import { type CellGradients, cellGradients, cellMeans, gridOf, LEVEL } from './preview.js';

export interface PreviewComparison {
  readonly quiet: boolean;
  /** largest difference as a share of what is allowed at its place; quiet: at most 1; Infinity: not comparable */
  readonly score: number;
  /** no counted cell differs at all, as in frames of a camera that is stuck */
  readonly identical: boolean;
  /** for `learnNoise`; null if the previews are not comparable */
  readonly tiles: TileDifferences | null;
}

const NOT_COMPARABLE: PreviewComparison = {
  quiet: false,
  score: Number.POSITIVE_INFINITY,
  identical: false,
  tiles: null,
};

/**
 * @param examined preview of the last examined frame
 * @param noise of the camera; null: nothing was learned yet
 * @param counted 1 per cell of `gridOf` that counts, 0 per ignored one; null: all count
 */
export function comparePreviews(
  examined: Preview,
  current: Preview,
  noise: NoiseModel | null,
  counted: Uint8Array | null,
  fitted: Fitted = FITTED,
): PreviewComparison {
  const { width, height } = examined;
  if (width !== current.width || height !== current.height) return NOT_COMPARABLE;
  const grid = gridOf(examined);
  if (counted !== null && (counted.length !== grid.columns * grid.rows || !counted.includes(1))) return NOT_COMPARABLE;
  const { means, gradients } = cellsOf(examined);
  const differences = cellMeans(current);
  const identical = subtract(differences, means, counted);
  const { light, shift, residual } = explain(differences, means, gradients, counted);
  takeLocalLight(residual, grid, counted);
  const luma = largestPerTile(residual, gradients.steepness, grid, counted, fitted.edge);
  const colour = colourPerTile(examined, current, counted);
  const tiles = { ...luma, chroma: colour.chroma };
  const score = Math.max(
    Math.max(light, colour.tint) / fitted.light,
    shift / fitted.shift,
    scoreOf(tiles, noise, fitted),
  );
  return { quiet: score <= 1 && !repeatsRows(examined, current), score, identical, tiles };
}

/**
 * Subtracts the means of the examined preview. @returns whether no counted cell differs
 *
 * A loop of many cells has a function of its own here: V8 compiles a long loop while it runs, for the code behind the
 * loop as it has seen it, and drops that code where the rest of a function has not run since.
 */
function subtract(differences: Int16Array, means: Int16Array, counted: Uint8Array | null): boolean {
  let identical = true;
  for (let i = 0; i < differences.length; i++) {
    const difference = (differences[i] as number) - (means[i] as number);
    differences[i] = difference;
    if (difference !== 0 && (counted === null || counted[i] !== 0)) identical = false;
  }
  return identical;
}

/** Side of a coder's block in the frame, pixels. */
const BLOCK = 16;

/**
 * Whether `current` has exactly equal rows over the height of a block, of which `examined` has fewer than half. A
 * decoder draws the last good row down so; over flat ground the rule sees no difference, though nothing is seen there.
 */
function repeatsRows(examined: Preview, current: Preview): boolean {
  const { width, height, source } = current;
  const least = Math.max(2, Math.ceil((BLOCK * height) / source.height));
  let [run, before] = [0, 0];
  for (let y = 1; y < height; y++) {
    const repeats = equalsRowAbove(current, y, width);
    run = repeats ? run + 1 : 0;
    before = repeats ? before + (equalsRowAbove(examined, y, width) ? 1 : 0) : 0;
    if (run >= least && 2 * before < run) return true;
  }
  return false;
}

function equalsRowAbove({ luma }: Preview, y: number, width: number): boolean {
  for (let at = y * width; at < (y + 1) * width; at++) if (luma[at] !== luma[at - width]) return false;
  return true;
}

/** Cells of examined previews, of which each is compared with many frames. */
const known = new WeakMap<Preview, { readonly means: Int16Array; readonly gradients: CellGradients }>();
function cellsOf(preview: Preview) {
  const cells = known.get(preview) ?? { means: cellMeans(preview), gradients: cellGradients(preview) };
  known.set(preview, cells);
  return cells;
}

/** Levels at which a residual counts fully as local light; a change is stronger, so that it stays visible. */
const LOCAL_LIGHT = 2;

/** Subtracts the mean of the clipped residuals of three by three tiles from the cells of the middle tile. */
function takeLocalLight(residual: Float32Array, grid: { columns: number; rows: number }, counted: Uint8Array | null) {
  const { columns, rows } = grid;
  const tiles = tilesOf(grid);
  const sums = new Float64Array(tiles.columns * tiles.rows);
  const counts = new Uint32Array(tiles.columns * tiles.rows);
  const clip = LOCAL_LIGHT * LEVEL;
  for (let row = 0, i = 0; row < rows; row++) {
    const start = Math.floor(row / TILE) * tiles.columns;
    for (let column = 0; column < columns; column++, i++) {
      if (counted !== null && counted[i] === 0) continue;
      const tile = start + Math.floor(column / TILE);
      sums[tile] = (sums[tile] as number) + Math.max(-clip, Math.min(clip, residual[i] as number));
      counts[tile] = (counts[tile] as number) + 1;
    }
  }
  const local = new Float32Array(sums.length);
  for (let row = 0; row < tiles.rows; row++) {
    for (let column = 0; column < tiles.columns; column++) {
      let [sum, count] = [0, 0];
      for (let v = Math.max(0, row - 1); v <= Math.min(tiles.rows - 1, row + 1); v++) {
        for (let u = Math.max(0, column - 1); u <= Math.min(tiles.columns - 1, column + 1); u++) {
          sum += sums[v * tiles.columns + u] as number;
          count += counts[v * tiles.columns + u] as number;
        }
      }
      local[row * tiles.columns + column] = sum / Math.max(1, count);
    }
  }
  for (let row = 0, i = 0; row < rows; row++) {
    const start = Math.floor(row / TILE) * tiles.columns;
    for (let column = 0; column < columns; column++, i++) {
      residual[i] = (residual[i] as number) - (local[start + Math.floor(column / TILE)] as number);
    }
  }
}

/**
 * Largest residuals per tile, of cells and of two by two cells, less what a shake of `edge` pixels makes of the
 * steepness there. Ignored cells have none.
 */
function largestPerTile(
  residual: Float32Array,
  steepness: Int16Array,
  grid: { columns: number; rows: number },
  counted: Uint8Array | null,
  edge: number,
): Omit<TileDifferences, 'chroma'> {
  const { columns, rows } = grid;
  const tiles = tilesOf(grid);
  const [fine, coarse] = [new Uint8Array(tiles.columns * tiles.rows), new Uint8Array(tiles.columns * tiles.rows)];
  if (counted !== null) for (let i = 0; i < residual.length; i++) if (counted[i] === 0) residual[i] = 0;
  for (let row = 0, i = 0; row < rows; row++) {
    const start = Math.floor(row / TILE) * tiles.columns;
    for (let column = 0; column < columns; column++, i++) {
      const tile = start + Math.floor(column / TILE);
      const of = residual[i] as number;
      const steep = steepness[i] as number;
      const single = Math.min(255, Math.abs(of) - edge * steep);
      if (single > (fine[tile] as number)) fine[tile] = single;
      if (row === 0 || column === 0) continue;
      const [left, up, both] = [i - 1, i - columns, i - columns - 1];
      const sum = of + (residual[left] as number) + (residual[up] as number) + (residual[both] as number);
      const steepSum = steep + (steepness[left] as number) + (steepness[up] as number) + (steepness[both] as number);
      const four = Math.min(255, (Math.abs(sum) - edge * steepSum) / 4);
      if (four > (coarse[tile] as number)) coarse[tile] = four;
    }
  }
  return { ...tiles, fine, coarse };
}

/** @returns the largest difference of all tiles as a share of the bound of its tile */
function scoreOf(tiles: TileDifferences, noise: NoiseModel | null, { bound, fine, coarse, chroma }: Fitted): number {
  const levels = noiseLevels(noise, tiles);
  let score = 0;
  for (let i = 0; i < tiles.fine.length; i++) {
    const ofFine = clamp(levels.fine[i] as number, fine.least, fine.most);
    const ofCoarse = clamp(levels.coarse[i] as number, coarse.least, coarse.most);
    const ofChroma = clamp(levels.chroma[i] as number, chroma.least, chroma.most);
    score = Math.max(score, (tiles.fine[i] as number) / ofFine, (tiles.coarse[i] as number) / ofCoarse);
    score = Math.max(score, (tiles.chroma[i] as number) / ofChroma);
  }
  return score / bound;
}

/** @param least levels @param most levels @returns units of 1/16 level */
const clamp = (value: number, least: number, most: number) => Math.max(least * LEVEL, Math.min(most * LEVEL, value));
