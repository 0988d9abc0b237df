/** Outlines of a comparison's heatmaps as SVG paths, drawn by the same code as the pictures of the service. */
import { outlineOf, type Point, pathOf, type Ring } from '../../../src/heatmaps/contour.js';
import { fetchApi, localAddress } from '../api/client.js';
import { type Box, type Comparison, SIDES, type Side } from '../api/types.js';

/** Units per frame of the paths; the drawing stretches them over the picture. */
export const UNITS = 1000;

export type Outlines = Readonly<Record<Side, string>>;
const EMPTY: Outlines = { before: '', after: '' };

const kept = new Map<string, Promise<readonly Ring[]>>();
const MOST_KEPT = 400;

/** @returns the rings of one map; none if it is no longer kept */
function ringsOf({ heatmaps, id }: Comparison, side: Side, word: number | null): Promise<readonly Ring[]> {
  if (heatmaps === undefined) return Promise.resolve([]);
  const key = `${id} ${side} ${word}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const link = new URL(localAddress(heatmaps[side].url), location.origin);
  link.searchParams.set('style', 'raw');
  if (word !== null) link.searchParams.set('word', String(word));
  const rings = readRings(link).catch(() => {
    kept.delete(key);
    return [];
  });
  if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value as string);
  kept.set(key, rings);
  return rings;
}

async function readRings(link: URL): Promise<readonly Ring[]> {
  const response = await fetchApi(link);
  if (!response.ok) return [];
  const [width, height] = ['Heatmap-Width', 'Heatmap-Height'].map((name) => Number(response.headers.get(name)));
  const data = new Float32Array(await response.arrayBuffer());
  if (!width || !height || data.length !== width * height) return [];
  return outlineOf({ width, height, data });
}

/**
 * @param word position of a word of the caption; null: the change
 * @param boxes if given, only outlines that meet a box of their side
 */
export async function readOutlines(
  comparison: Comparison,
  word: number | null,
  boxes?: Readonly<Record<Side, readonly Box[]>>,
): Promise<Outlines> {
  const paths = await Promise.all(
    SIDES.map(async (side) => {
      const rings = await ringsOf(comparison, side, word);
      const shown = boxes === undefined ? rings : rings.filter((ring) => boxes[side].some((box) => meets(ring, box)));
      return pathOf(shown, UNITS, UNITS);
    }),
  );
  return paths.every((path) => path === '') && boxes !== undefined
    ? { before: boxPath(boxes.before), after: boxPath(boxes.after) }
    : { ...EMPTY, before: paths[0] ?? '', after: paths[1] ?? '' };
}

/** @returns rectangles of boxes as an SVG path, for things whose contours are not kept */
export const boxPath = (boxes: readonly Box[]): string =>
  boxes
    .map(({ x, y, width, height }) => {
      const [left, top, w, h] = [x, y, width, height].map((value) => (value * UNITS).toFixed(1));
      return `M${left} ${top}h${w}v${h}h-${w}Z`;
    })
    .join('');

function meets(ring: Ring, box: Box): boolean {
  return ring.some(([x, y]: Point) => x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height);
}
