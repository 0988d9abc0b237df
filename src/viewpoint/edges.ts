/** How steep edges are: what a lens out of focus takes away, and neither other light nor another coding of the picture does. */
import type { Side } from '../images.js';
import type { Plane } from './planes.js';
import { median } from './statistics.js';
import { TILE, type Tile, type Tiles } from './tiles.js';

export interface Edges {
  /** steepness of `after` less that of `before`, in the middle one of the tiles that show the same edge; towards 0 where they are few */
  readonly change: number;
  /** steepness of each frame's own strongest tiles, wherever those are: things that came are out of focus too; 0 where there are none */
  readonly before: number;
  readonly after: number;
}

/** The strongest edges of a frame; the others are nearer to the noise. */
const MOST_TILES = 40;
/** Levels: less contrast in a tile is no edge. */
const LEAST_CONTRAST = 3;
const SAME = 0.5;
/** As many tiles are believed by half: in a bare place some look alike by chance. */
const FEW = 8;

export function measureEdges(tiled: Tiles, beforeLuma: Plane): Edges {
  const lumas = { before: beforeLuma, after: tiled.afterLuma };
  const inner = tiled.tiles.filter((tile) => hasSurroundings(tile, tiled));
  const ofOwn = (side: Side) => steepnessOf(strongest(inner, side).map((tile) => bandsOf(tile, lumas[side])));
  const changes = strongest(
    inner.filter(({ correlation }) => correlation > SAME),
    'before',
  ).map((tile) => steepnessOf([bandsOf(tile, lumas.after)]) - steepnessOf([bandsOf(tile, lumas.before)]));
  const borne = changes.length / (changes.length + FEW);
  return { change: borne * median(changes), before: ofOwn('before'), after: ofOwn('after') };
}

const strongest = (tiles: readonly Tile[], side: Side): Tile[] =>
  tiles
    .filter((tile) => tile[side].contrast > LEAST_CONTRAST)
    .sort((a, b) => b[side].contrast - a[side].contrast)
    .slice(0, MOST_TILES);

/** `COARSE` pixels around the tile are in both pictures. */
function hasSurroundings(
  { column, row }: Tile,
  { columns, rows, afterLuma: { width, data } }: Tiles,
): boolean {
  if (column === 0 || row === 0 || column === columns - 1 || row === rows - 1) return false;
  const [left, top] = [column * TILE - COARSE, row * TILE - COARSE];
  return [0, SIDE - 1].every((y) =>
    [0, SIDE - 1].every((x) => !Number.isNaN(data[(top + y) * width + left + x] as number)),
  );
}

/** Radii of windows, working pixels: fine is what the smaller mean takes away, coarse what lies between both. */
const FINE = 1;
const COARSE = 3;
const SIDE = TILE + 2 * COARSE;

interface Bands {
  readonly fine: number;
  readonly coarse: number;
}
/** Levels squared a pixel: what noise and rounding leave of either. */
const FLOOR = 0.2;

/** Log of the fine over the coarse variance. */
function steepnessOf(list: readonly Bands[]): number {
  const mean = (band: keyof Bands) =>
    list.reduce((sum, { [band]: v }) => sum + v, 0) / Math.max(1, list.length);
  return Math.log((mean('fine') + FLOOR) / (mean('coarse') + FLOOR));
}

const WIDE = SIDE + 1;
/** Of the tile and its surroundings: sums over all pixels above and left of a corner. */
const sums = new Float64Array(WIDE * WIDE);

function bandsOf({ column, row }: Tile, { width, data }: Plane): Bands {
  const start = (row * TILE - COARSE) * width + column * TILE - COARSE;
  for (let y = 0; y < SIDE; y++) {
    let line = 0;
    for (let x = 0, i = start + y * width, to = (y + 1) * WIDE + 1; x < SIDE; x++, i++, to++) {
      line += data[i] as number;
      sums[to] = (sums[to - WIDE] as number) + line;
    }
  }
  let fine = 0;
  let coarse = 0;
  for (let y = COARSE; y < COARSE + TILE; y++) {
    for (let x = COARSE, i = start + y * width + COARSE; x < COARSE + TILE; x++, i++) {
      const middle = meanAround(x, y, FINE);
      const a = (data[i] as number) - middle;
      const b = middle - meanAround(x, y, COARSE);
      fine += a * a;
      coarse += b * b;
    }
  }
  return { fine: fine / TILE ** 2, coarse: coarse / TILE ** 2 };
}

function meanAround(x: number, y: number, radius: number): number {
  const top = (y - radius) * WIDE + x - radius;
  const side = 2 * radius + 1;
  const bottom = top + side * WIDE;
  const sum =
    (sums[bottom + side] as number) -
    (sums[bottom] as number) -
    (sums[top + side] as number) +
    (sums[top] as number);
  return sum / (side * side);
}
