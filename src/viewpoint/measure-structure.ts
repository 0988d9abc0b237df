/** Measurements of the detail of tiles: which was kept, lost or gained, and which tiles show another thing. */
import { type LightingFit, lightingResidual, tintResidual } from './photometric.js';
import { correlation, median, quantile } from './statistics.js';
import type { Tile, Tiles } from './tiles.js';

/** Contrast in levels: a tile has detail above DETAIL and is flat below FLAT. */
const DETAIL = 4;
const FLAT = 2;
/** Correlation: detail is kept above KEPT and lost below LOST. */
const KEPT = 0.6;
const LOST = 0.3;
/** Log units: tiles within these are as bright and as coloured as the lighting fit predicts. */
const SAME_LEVEL = 0.2;
const SAME_TINT = 0.12;
/** Log units: a flat tile further from the lighting fit shows another thing. */
const OTHER_LIGHT = 0.35;
/** Log units that damp the correlation, so that tiles of one brightness do not correlate by chance. */
const CORRELATION_FLOOR = 0.05;

export function measureDetail(tiles: readonly Tile[], lighting: LightingFit) {
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
    level_kept: share(tiles, (t) => Math.abs(lightingResidual(t, lighting)) < SAME_LEVEL),
    tone_kept: share(
      tiles,
      (t) => Math.abs(lightingResidual(t, lighting)) < SAME_LEVEL && tintResidual(t, lighting) < SAME_TINT,
    ),
    correlation: median(detailed.map((t) => t.correlation)),
    coarse_correlation: correlation(
      tiles.map((t) => Math.log(t.before.luma + 8)),
      tiles.map((t) => Math.log(t.after.luma + 8)),
      CORRELATION_FLOOR,
    ),
    detail_ratio: median(ratios),
    detail_ratio_best: quantile(ratios, 0.9),
    flat_gained: share(tiles, (t) => t.after.contrast < FLAT) - share(tiles, (t) => t.before.contrast < FLAT),
  };
}

/**
 * A tile shows another thing if its detail differs, or if it is flat and its brightness differs from the lighting
 * fit.
 */
export function measureChanged({ tiles, columns, rows }: Tiles, lighting: LightingFit) {
  const changed = new Uint8Array(columns * rows);
  for (const tile of tiles) {
    const detailed = Math.max(tile.before.contrast, tile.after.contrast) > DETAIL;
    const other = detailed
      ? tile.correlation < LOST
      : Math.abs(lightingResidual(tile, lighting)) > OTHER_LIGHT && tile.correlation < LOST;
    if (other) changed[tile.row * columns + tile.column] = 1;
  }
  const total = changed.reduce((a, b) => a + b, 0);
  const cells = Math.max(1, columns * rows);
  return {
    changed_share: Math.log((total + 1) / cells),
    changed_largest: Math.log((largestComponent(changed, columns, rows) + 1) / cells),
  };
}

/** Number of cells in the largest 4-connected component. Sets `cells` to 0. */
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
