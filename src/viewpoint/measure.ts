/** Everything that the scores look at, as one list of named numbers a pair. README.md gives each one's equation. */
import { measureEdges } from './edges.js';
import type { Grain } from './grain.js';
import {
  fitLight,
  type Light,
  lightResidual,
  median,
  quantile,
  relit,
  showsTheSame,
  tintResidual,
} from './photometric.js';
import type { Plane } from './planes.js';
import type { Registration } from './register.js';
import { TILE, type Tile, type Tiles } from './tiles.js';

export const MEASUREMENTS = [
  'refused',
  'displacement',
  'hidden',
  'gain',
  'gamma',
  'tint',
  'shade',
  'shade_depth',
  'colour_kept',
  'colourless',
  'colour_lost',
  'structure_kept',
  'structure_lost',
  'structure_new',
  'covered',
  'detailed',
  'level_kept',
  'tone_kept',
  'correlation',
  'coarse_correlation',
  'detail_ratio',
  'detail_ratio_best',
  'flat_gained',
  'dark_after',
  'dark_fall',
  'contrast_after',
  'contrast_fall',
  'noise_change',
  'noise_most',
  'sharpness_change',
  'sharpness_fall',
  'blocks_change',
  'blocks_most',
  'blank_change',
  'streaks_change',
  'rest_level',
  'rest_skew',
  'rest_vertical',
  'rest_horizontal',
  'changed_share',
  'changed_largest',
  'edge_change',
  'edge_before',
  'edge_after',
  'edge_soft',
] as const;
export type Measurement = (typeof MEASUREMENTS)[number];
export type Measurements = Readonly<Record<Measurement, number>>;

/** Levels: less contrast than this in a tile is no detail. */
const DETAIL = 4;
const FLAT = 2;
const KEPT = 0.6;
const LOST = 0.3;
/** Log units of light. */
const SAME_LEVEL = 0.2;
const SAME_TINT = 0.12;

/**
 * @param tiles of both frames in one view where they could be registered
 * @param luma of before, working size
 * @param images at their own resolution
 */
export function measure(
  registration: Registration | null,
  tiled: Tiles,
  luma: Plane,
  grains: { readonly before: Grain; readonly after: Grain },
): { readonly measurements: Measurements; readonly light: Light } {
  const { tiles } = tiled;
  const light = fitLight(tiles);
  const measurements: Measurements = {
    refused: registration === null ? 1 : 0,
    displacement: registration === null ? 0 : Math.log1p(640 * registration.displacement),
    hidden: registration === null ? 0 : 1 - registration.overlap,
    ...lightOf(tiles, light),
    ...colourOf(tiles),
    ...structureOf(tiles, light),
    ...exposureOf(tiles),
    ...grainOf(grains.before, grains.after),
    ...restOf(tiled, luma, light),
    ...changedOf(tiled, light),
    ...edgesOf(tiled, luma),
  };
  return { measurements, light };
}

type Some<K extends Measurement> = Pick<Measurements, K>;

function lightOf(
  tiles: readonly Tile[],
  light: Light,
): Some<'gain' | 'gamma' | 'tint' | 'shade' | 'shade_depth'> {
  const same = tiles.filter(showsTheSame);
  const residuals = same.map((tile) => lightResidual(tile, light));
  const levels = same.map((t) => Math.log((t.after.luma + 8) / (t.before.luma + 8)));
  const mean = (light.gains[0] + light.gains[1] + light.gains[2]) / 3;
  const [low, middle, high] = [0.08, 0.5, 0.92].map((share) => quantile(residuals, share)) as [
    number,
    number,
    number,
  ];
  return {
    gain: Math.abs(median(levels)),
    gamma: Math.abs(Math.log(light.gamma)),
    tint: Math.sqrt(light.gains.reduce((sum, k) => sum + (k - mean) ** 2, 0) / 3),
    shade: high - low,
    shade_depth: Math.max(middle - low, high - middle),
  };
}

/** Mean over tiles of (max - min) of the channels, relative to their brightness. */
function colourOf(tiles: readonly Tile[]): Some<'colour_kept' | 'colourless' | 'colour_lost'> {
  const saturation = (side: 'before' | 'after') =>
    meanOf(
      tiles.map(({ [side]: t }) => {
        const most = Math.max(t.red, t.green, t.blue);
        return (most - Math.min(t.red, t.green, t.blue)) / (most + 16);
      }),
    );
  const [before, after] = [saturation('before'), saturation('after')];
  const [least, most] = [Math.min(before, after), Math.max(before, after)];
  return {
    colour_kept: Math.log((least + 0.01) / (most + 0.01)),
    colourless: Math.exp(-least / 0.01),
    colour_lost: most - least,
  };
}

function structureOf(
  tiles: readonly Tile[],
  light: Light,
): Some<
  | 'structure_kept'
  | 'structure_lost'
  | 'structure_new'
  | 'covered'
  | 'detailed'
  | 'level_kept'
  | 'tone_kept'
  | 'correlation'
  | 'coarse_correlation'
  | 'detail_ratio'
  | 'detail_ratio_best'
  | 'flat_gained'
> {
  const detailed = tiles.filter((t) => t.before.contrast > DETAIL);
  const fresh = tiles.filter((t) => t.after.contrast > DETAIL);
  const ratios = detailed.map((t) => Math.log((t.after.contrast + 1) / (t.before.contrast + 1)));
  const share = (of: readonly Tile[], test: (t: Tile) => boolean) =>
    of.length === 0 ? 0 : of.filter(test).length / of.length;
  return {
    structure_kept: share(detailed, (t) => t.correlation > KEPT),
    structure_lost: share(detailed, (t) => t.correlation < LOST),
    structure_new: share(fresh, (t) => t.correlation < LOST),
    covered: share(detailed, (t) => t.correlation < LOST && t.after.contrast < t.before.contrast / 2),
    detailed: detailed.length / Math.max(1, tiles.length),
    level_kept: share(tiles, (t) => Math.abs(lightResidual(t, light)) < SAME_LEVEL),
    tone_kept: share(
      tiles,
      (t) => Math.abs(lightResidual(t, light)) < SAME_LEVEL && tintResidual(t, light) < SAME_TINT,
    ),
    correlation: median(detailed.map((t) => t.correlation)),
    coarse_correlation: correlationOf(
      tiles.map((t) => Math.log(t.before.luma + 8)),
      tiles.map((t) => Math.log(t.after.luma + 8)),
    ),
    detail_ratio: median(ratios),
    detail_ratio_best: quantile(ratios, 0.9),
    flat_gained: share(tiles, (t) => t.after.contrast < FLAT) - share(tiles, (t) => t.before.contrast < FLAT),
  };
}

function exposureOf(
  tiles: readonly Tile[],
): Some<'dark_after' | 'dark_fall' | 'contrast_after' | 'contrast_fall'> {
  const levels = (side: 'before' | 'after') => tiles.map((t) => t[side].luma);
  const spread = (values: readonly number[]) => quantile(values, 0.95) - quantile(values, 0.05);
  const [before, after] = [levels('before'), levels('after')];
  const bright = (values: readonly number[]) => quantile(values, 0.95);
  return {
    dark_after: Math.exp(-bright(after) / 20),
    dark_fall: Math.log((bright(before) + 8) / (bright(after) + 8)),
    contrast_after: Math.log(spread(after) + 4),
    contrast_fall: Math.log((spread(before) + 4) / (spread(after) + 4)),
  };
}

function grainOf(
  before: Grain,
  after: Grain,
): Some<
  | 'noise_change'
  | 'noise_most'
  | 'sharpness_change'
  | 'sharpness_fall'
  | 'blocks_change'
  | 'blocks_most'
  | 'blank_change'
  | 'streaks_change'
> {
  const noise = Math.log((after.noise + 0.5) / (before.noise + 0.5));
  const sharpness = Math.log((after.sharpness + 0.5) / (before.sharpness + 0.5));
  return {
    noise_change: Math.abs(noise),
    noise_most: Math.log(Math.max(after.noise, before.noise) + 0.5),
    sharpness_change: Math.abs(sharpness),
    sharpness_fall: Math.max(0, -sharpness),
    blocks_change: Math.abs(after.blocks - before.blocks),
    blocks_most: Math.max(after.blocks, before.blocks),
    blank_change: Math.abs(after.blank - before.blank),
    streaks_change: Math.abs(after.streaks - before.streaks),
  };
}

/**
 * What fine differences are left once view and light are taken away, where both frames show the same thing. Of every other tile, as
 * on a chessboard: they say as much as all of them.
 */
function restOf(
  { tiles, afterLuma }: Tiles,
  luma: Plane,
  light: Light,
): Some<'rest_level' | 'rest_skew' | 'rest_vertical' | 'rest_horizontal'> {
  const table = Float64Array.from({ length: 256 }, (_, level) => relit(level, light));
  const rest = new Float64Array(TILE * TILE);
  let [count, squares, cubes, vertical, horizontal] = [0, 0, 0, 0, 0];
  for (const tile of tiles) {
    if ((tile.row + tile.column) % 2 !== 0 || !showsTheSame(tile)) continue;
    let sum = 0;
    for (let y = 0, k = 0; y < TILE; y++) {
      let i = (tile.row * TILE + y) * luma.width + tile.column * TILE;
      for (let x = 0; x < TILE; x++, i++, k++) {
        const level = ((luma.data[i] as number) + 0.5) | 0;
        const d = (afterLuma.data[i] as number) - (table[level] as number);
        rest[k] = d;
        sum += d;
      }
    }
    const mean = sum / (TILE * TILE);
    for (let y = 0; y < TILE - 2; y++) {
      for (let k = y * TILE, end = k + TILE - 2; k < end; k++) {
        const d = (rest[k] as number) - mean;
        squares += d * d;
        cubes += d * d * d;
        vertical += d * ((rest[k + 2 * TILE] as number) - mean);
        horizontal += d * ((rest[k + 2] as number) - mean);
      }
    }
    count += (TILE - 2) ** 2;
  }
  const variance = squares / Math.max(1, count);
  const scale = variance + 0.05;
  return {
    rest_level: Math.log(Math.sqrt(variance) + 0.3),
    rest_skew: Math.abs(cubes / Math.max(1, count)) / scale ** 1.5,
    rest_vertical: vertical / Math.max(1, count) / scale,
    rest_horizontal: horizontal / Math.max(1, count) / scale,
  };
}

/** Log units of light that a changed thing differs in, where it has no detail to tell it by. */
const OTHER_LIGHT = 0.35;

/** Tiles that show another thing: other detail, or a flat place of another brightness than the light gives. */
function changedOf({ tiles, columns, rows }: Tiles, light: Light): Some<'changed_share' | 'changed_largest'> {
  const changed = new Uint8Array(columns * rows);
  for (const tile of tiles) {
    const detailed = Math.max(tile.before.contrast, tile.after.contrast) > DETAIL;
    const other = detailed
      ? tile.correlation < LOST
      : Math.abs(lightResidual(tile, light)) > OTHER_LIGHT && tile.correlation < LOST;
    if (other) changed[tile.row * columns + tile.column] = 1;
  }
  const total = changed.reduce((a, b) => a + b, 0);
  const cells = Math.max(1, columns * rows);
  return {
    changed_share: Math.log((total + 1) / cells),
    changed_largest: Math.log((largestComponent(changed, columns, rows) + 1) / cells),
  };
}

/** Cells of the largest 4-connected component; empties `cells`. */
function largestComponent(cells: Uint8Array, columns: number, rows: number): number {
  let largest = 0;
  for (let start = 0; start < cells.length; start++) {
    if (cells[start] === 0) continue;
    cells[start] = 0;
    const queue = [start];
    for (const cell of queue) {
      const x = cell % columns;
      for (const next of [
        x > 0 ? cell - 1 : -1,
        x + 1 < columns ? cell + 1 : -1,
        cell - columns,
        cell + columns < columns * rows ? cell + columns : -1,
      ]) {
        if (next < 0 || cells[next] === 0) continue;
        cells[next] = 0;
        queue.push(next);
      }
    }
    largest = Math.max(largest, queue.length);
  }
  return largest;
}

/** Log steepness: the strongest edges of 19 in 20 made frames that nobody tampered with are steeper. */
const SOFT = -1.4;

function edgesOf(
  tiled: Tiles,
  luma: Plane,
): Some<'edge_change' | 'edge_before' | 'edge_after' | 'edge_soft'> {
  const { change, before, after } = measureEdges(tiled, luma);
  return {
    edge_change: change,
    edge_before: before,
    edge_after: after,
    edge_soft: Math.max(0, SOFT - after),
  };
}

const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length;

/** 0 where there is nothing to correlate. */
function correlationOf(a: readonly number[], b: readonly number[]): number {
  if (a.length === 0) return 0;
  const [ma, mb] = [meanOf(a), meanOf(b)];
  let [ab, aa, bb] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [(a[i] as number) - ma, (b[i] as number) - mb];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / (Math.sqrt(aa * bb) + 0.05 * a.length);
}
