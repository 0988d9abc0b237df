/** The pixels of a box that differ between the frames, and the parts of them that are connected. Pure. */
import type { Box, RgbImage } from '../base/images.js';

/** Pixels of the longer side that are read: a distant person is still ten of them wide. */
const SAMPLED = 768;
/** Least difference of a colour channel that counts as another thing, levels (set above the noise of JPEG). */
const LEAST_DIFFERENCE = 24;
/** Share of a box that is added around it, because a thing sticks out of its cells. */
const MARGIN = 0.2;
/** Rows without a difference that do not separate two parts, as a share of the region's height. */
const ROW_GAP = 0.06;
/** A part with less than this share of the largest one's pixels is a fragment of a thing. */
const LEAST_PART = 0.25;

/** Sampled pixels of a box with its margin, in pixels of the frame. */
export interface Grid {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly step: number;
  /** one per sampled pixel: 1 if the frames differ there */
  readonly differs: Uint8Array;
}

/** Whether a pixel shows another thing in the other frame. @param at its first byte */
export function pixelDiffers(before: Uint8Array, after: Uint8Array, at: number): boolean {
  return differ(before, after, at) || differ(before, after, at + 1) || differ(before, after, at + 2);
}

const differ = (before: Uint8Array, after: Uint8Array, at: number): boolean =>
  Math.abs((before[at] as number) - (after[at] as number)) >= LEAST_DIFFERENCE;

export function gridOf({ before, after }: { before: RgbImage; after: RgbImage }, box: Box, added = MARGIN): Grid {
  const step = Math.max(1, Math.round(Math.max(after.width, after.height) / SAMPLED));
  const margin = { x: box.width * added, y: box.height * added };
  const left = Math.max(0, Math.floor((box.x - margin.x) * after.width));
  const top = Math.max(0, Math.floor((box.y - margin.y) * after.height));
  const right = Math.min(after.width, Math.ceil((box.x + box.width + margin.x) * after.width));
  const bottom = Math.min(after.height, Math.ceil((box.y + box.height + margin.y) * after.height));
  const width = Math.max(1, Math.floor((right - left) / step));
  const height = Math.max(1, Math.floor((bottom - top) / step));
  const differs = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = ((top + y * step) * after.width + left + x * step) * 3;
      if (pixelDiffers(before.data, after.data, at)) differs[y * width + x] = 1;
    }
  }
  return { left, top, width, height, step, differs };
}

/** Pixels of a column that differ, from one to the next within the gap. */
interface Chain {
  readonly x: number;
  readonly top: number;
  /** the last one */
  bottom: number;
  count: number;
  /** those in the box */
  inside: number;
}

/**
 * The grid once per part whose pixels are connected, with the pixels of this part alone. A gap of a few rows does not
 * separate: a belt may look like the ground. A part that lies mostly beside the box belongs to another region.
 */
export function connectedParts(grid: Grid, { width: all, height: rows }: RgbImage, box: Box): Grid[] {
  const { left, top, width, height, step } = grid;
  const [x0, x1] = [box.x, box.x + box.width].map((x) => (x * all - left) / step) as [number, number];
  const [y0, y1] = [box.y, box.y + box.height].map((y) => (y * rows - top) / step) as [number, number];
  const gap = Math.max(2, Math.round(ROW_GAP * height));
  const columns = Array.from({ length: width }, (_, x) =>
    chainsOf(grid, x, gap, x >= x0 && x < x1 ? [y0, y1] : [0, 0]),
  );
  const rest = new Set(columns.flat().sort((a, b) => a.top - b.top || a.x - b.x));
  const parts: { readonly chains: readonly Chain[]; readonly count: number }[] = [];
  for (const start of rest) {
    const chains = [start];
    rest.delete(start);
    let [count, inside] = [0, 0];
    // The list grows while it is read.
    for (const chain of chains) {
      count += chain.count;
      inside += chain.inside;
      for (const next of [...(columns[chain.x - 1] ?? []), ...(columns[chain.x + 1] ?? [])]) {
        const touches = next.top - gap <= chain.bottom && chain.top - gap <= next.bottom;
        if (touches && rest.delete(next)) chains.push(next);
      }
    }
    if (inside > count / 2) parts.push({ chains, count });
  }
  const most = Math.max(...parts.map(({ count }) => count));
  const kept = parts.filter(({ count }) => count >= LEAST_PART * most);
  return kept.length === 0 ? [grid] : kept.map(({ chains }) => ({ ...grid, differs: maskOf(chains, grid) }));
}

/** @param inBox rows of the box in the column, the end excluded */
function chainsOf({ width, height, differs }: Grid, x: number, gap: number, inBox: readonly [number, number]): Chain[] {
  const chains: Chain[] = [];
  for (let y = 0; y < height; y++) {
    if (differs[y * width + x] === 0) continue;
    let chain = chains.at(-1);
    if (chain === undefined || y - chain.bottom > gap) {
      chain = { x, top: y, bottom: y, count: 0, inside: 0 };
      chains.push(chain);
    }
    chain.bottom = y;
    chain.count++;
    if (y >= inBox[0] && y < inBox[1]) chain.inside++;
  }
  return chains;
}

function maskOf(chains: readonly Chain[], { width, height, differs }: Grid): Uint8Array {
  const mask = new Uint8Array(width * height);
  for (const { x, top, bottom } of chains) {
    for (let at = top * width + x; at <= bottom * width + x; at += width) mask[at] = differs[at] as number;
  }
  return mask;
}
