/**
 * Noise of a camera: per tile of the frame the largest difference that frames of an unchanged scene usually have. It is
 * learned from the camera's own frames, and is small plain JSON, as a part of the camera's state.
 */
import { type Grid, LEVEL } from './preview.js';

/** Cells per side of a tile. */
export const TILE = 10;

/** Largest differences of one pair of previews per tile, at two scales, units of 1/16 level; 255: that or more. */
export interface TileDifferences extends Grid {
  /** of single cells */
  readonly fine: Uint8Array;
  /** of squares of two by two cells */
  readonly coarse: Uint8Array;
  /** of the colour of two by two chroma pixels; 0 without colour */
  readonly chroma: Uint8Array;
}

/** The learned noise; its texts are the bytes of TileDifferences in base64. */
export interface NoiseModel extends Grid {
  /** number of pairs that it was learned from, up to MEMORY */
  readonly pairs: number;
  readonly fine: string;
  readonly coarse: string;
  readonly chroma: string;
}

/** Pairs that the moving average spans. */
const MEMORY = 8;
/** Before anything was learned, in levels: those of a camera of little noise with a good coder. */
const UNLEARNED = { fine: 2, coarse: 1, chroma: 2 } as const;

export const tilesOf = ({ columns, rows }: Grid): Grid => ({
  columns: Math.ceil(columns / TILE),
  rows: Math.ceil(rows / TILE),
});

/** @returns the noise per tile; that of an unknown camera if nothing was learned at this grid of tiles */
export function noiseLevels(noise: NoiseModel | null, { columns, rows }: Grid): TileDifferences {
  const length = columns * rows;
  const levels = (kind: keyof typeof UNLEARNED) => {
    const known = noise === null ? [] : Buffer.from(noise[kind], 'base64');
    return known.length === length ? Uint8Array.from(known) : new Uint8Array(length).fill(UNLEARNED[kind] * LEVEL);
  };
  return { columns, rows, fine: levels('fine'), coarse: levels('coarse'), chroma: levels('chroma') };
}

/**
 * The noise after one more pair. A moving average, in which a single pair can at most double the level of a tile: a
 * thing that passes is no noise.
 * @param noise null: none yet
 */
export function learnNoise(noise: NoiseModel | null, pair: TileDifferences): NoiseModel {
  const { columns, rows } = pair;
  const known = noiseLevels(noise, pair);
  const isKnown = noise !== null && noise.columns === columns && noise.rows === rows;
  const pairs = Math.min(MEMORY, (isKnown ? noise.pairs : 0) + 1);
  const learned = (before: Uint8Array, now: Uint8Array) => {
    const levels = before.map((level, i) => {
      const step = (Math.min(now[i] as number, 2 * level + LEVEL) - level) / pairs;
      // Rounded away from 0, because a small step would otherwise never be made.
      return Math.max(1, Math.min(255, level + (step > 0 ? Math.ceil(step) : Math.floor(step))));
    });
    return Buffer.from(levels).toString('base64');
  };
  return {
    columns,
    rows,
    pairs,
    fine: learned(known.fine, pair.fine),
    coarse: learned(known.coarse, pair.coarse),
    chroma: learned(known.chroma, pair.chroma),
  };
}
