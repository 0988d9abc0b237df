import { readFileSync } from 'node:fs';
import type { Heatmap } from '../../src/base/images.js';
import { chooseRegionCrops, findRegions, intersectionOverUnion, type MapRegion } from '../../src/model/regions.js';

/** Rows of digits, tenths of 1; '.' is 0. */
function map(...rows: string[]): Heatmap {
  const cells = rows.flatMap((row) => [...row].map((c) => (c === '.' ? 0 : Number(c) / 10)));
  return { width: rows[0]?.length ?? 0, height: rows.length, data: Float32Array.from(cells) };
}
const empty = map('........', '........', '........', '........');
const RULE = { threshold: 0.5, min_cells: 2 };

/** Cases that the training code passes too, because the decoder is trained on the same region crops. */
const SHARED = JSON.parse(readFileSync('test/fixtures/glances.json', 'utf8')) as {
  what: string;
  before: string[];
  after: string[];
  boxes: number[][];
}[];

describe('findRegions', () => {
  it('returns no region for empty maps', () => {
    expect(findRegions({ before: empty, after: empty }, RULE)).toEqual([]);
  });

  it('returns a component with its box in fractions, its share of cells as area and its mean as score', () => {
    const after = map('........', '.68.....', '..7.....', '........');
    const [region, ...more] = findRegions({ before: empty, after }, RULE);
    expect(more).toEqual([]);
    expect(region).toMatchObject({ side: 'after', area: 3 / 32 });
    expect(region?.box).toEqual({ x: 1 / 8, y: 1 / 4, width: 2 / 8, height: 2 / 4 });
    expect(region?.score).toBeCloseTo(0.7, 6);
  });

  it('connects cells along edges, not across corners', () => {
    const after = map('99......', '..99....', '........', '........');
    expect(findRegions({ before: empty, after }, RULE)).toHaveLength(2);
  });

  it('does not connect the end of a row with the start of the next', () => {
    const after = map('......99', '99......', '........', '........');
    expect(findRegions({ before: empty, after }, RULE)).toHaveLength(2);
  });

  it('drops cells below the threshold and components with too few cells', () => {
    const after = map('9.......', '..44....', '.....55.', '........');
    expect(findRegions({ before: empty, after }, RULE).map((region) => region.box.y)).toEqual([0.5]);
  });

  it('keeps a component with too few cells if it is strong', () => {
    const after = map('9.......', '...6....', '........', '7.......');
    const found = (strong?: number) =>
      findRegions({ before: empty, after }, strong === undefined ? RULE : { ...RULE, strong });
    expect(found(0.65).map((region) => region.box.y)).toEqual([0, 0.75]);
    expect(found()).toEqual([]);
  });

  it('sorts the regions of both sides by strength', () => {
    const before = map('99......', '........', '........', '........');
    const after = map('........', '........', '..6666..', '..6666..');
    expect(findRegions({ before, after }, RULE).map((region) => region.side)).toEqual(['after', 'before']);
  });
});

describe('intersectionOverUnion', () => {
  it.each([
    ['equal boxes', { x: 0.1, y: 0.1, width: 0.2, height: 0.2 }, 1],
    ['half of one', { x: 0.2, y: 0.1, width: 0.2, height: 0.2 }, 1 / 3],
    ['touching boxes', { x: 0.3, y: 0.1, width: 0.2, height: 0.2 }, 0],
  ])('of %s', (_, other, expected) => {
    expect(intersectionOverUnion({ x: 0.1, y: 0.1, width: 0.2, height: 0.2 }, other)).toBeCloseTo(expected, 9);
  });
});

describe('chooseRegionCrops', () => {
  const FRAME = { width: 640, height: 360 };
  const rule = { size: 112, regions: 2, margin: 1.35, min_side: 0.075 };
  const region = (side: 'before' | 'after', x: number, y: number, width: number, height: number): MapRegion => ({
    side,
    box: { x, y, width, height },
    area: width * height,
    score: 0.8,
  });
  const pixels = (box: { x: number; y: number; width: number; height: number }) =>
    [box.x * 640, box.y * 360, box.width * 640, box.height * 360].map((v) => Math.round(v * 1e6) / 1e6);

  it('crops a square in pixels around the region, with the margin', () => {
    // 64 x 36 px around 352, 198
    const [first] = chooseRegionCrops([region('after', 0.5, 0.5, 0.1, 0.1)], FRAME, rule);
    expect(pixels(first?.crop as never)).toEqual([352 - 43.2, 198 - 43.2, 86.4, 86.4]);
    expect(first?.object).toEqual({ x: 0.5, y: 0.5, width: 0.1, height: 0.1 });
  });

  it('cuts at least the smallest side', () => {
    const [first] = chooseRegionCrops([region('after', 0.5, 0.5, 0.01, 0.01)], FRAME, rule);
    expect(pixels(first?.crop as never).slice(2)).toEqual([48, 48]);
  });

  it('moves a crop at the border into the frame', () => {
    const [first] = chooseRegionCrops([region('after', 0.95, 0.9, 0.05, 0.1)], FRAME, rule);
    const [x, y, w, h] = pixels(first?.crop as never) as [number, number, number, number];
    expect([x + w, y + h]).toEqual([640, 360]);
  });

  it('cuts at most the smaller side of the frame', () => {
    const [first] = chooseRegionCrops([region('after', 0, 0.1, 1, 0.8)], FRAME, rule);
    expect(pixels(first?.crop as never)).toEqual([140, 0, 360, 360]);
  });

  it('cuts one crop around a region of before and one of after at the same location', () => {
    const pair = [region('after', 0.4, 0.4, 0.2, 0.2), region('before', 0.5, 0.4, 0.2, 0.2)];
    const crops = chooseRegionCrops(pair, FRAME, rule);
    expect(crops).toHaveLength(1);
    const box = crops[0]?.object;
    expect(box).toBeDefined();
    [box?.x, box?.y, box?.width, box?.height].forEach((value, i) => {
      expect(value).toBeCloseTo([0.4, 0.4, 0.3, 0.2][i] as number, 9);
    });
  });

  it('cuts no crop around a part of a stronger location', () => {
    const person = region('after', 0.4, 0.1, 0.2, 0.8);
    const edgeOfTheTable = region('before', 0.42, 0.6, 0.05, 0.05);
    const another = region('before', 0.55, 0.6, 0.1, 0.1);
    expect(chooseRegionCrops([person, edgeOfTheTable], FRAME, rule).map((g) => g.object)).toEqual([person.box]);
    expect(chooseRegionCrops([person, another], FRAME, rule)).toHaveLength(2);
  });

  it('cuts two crops around overlapping regions of one side', () => {
    const pair = [region('after', 0.4, 0.4, 0.2, 0.2), region('after', 0.45, 0.4, 0.2, 0.2)];
    expect(chooseRegionCrops(pair, FRAME, rule)).toHaveLength(2);
  });

  it('cuts at most as many crops as the bundle states, around the strongest', () => {
    const all = [
      region('after', 0.1, 0.1, 0.3, 0.3),
      region('after', 0.6, 0.1, 0.2, 0.2),
      region('before', 0.6, 0.6, 0.1, 0.1),
    ];
    expect(chooseRegionCrops(all, FRAME, rule).map((crop) => crop.object.x)).toEqual([0.1, 0.6]);
    expect(chooseRegionCrops([], FRAME, rule)).toEqual([]);
  });

  it.each(SHARED)('cuts the same crops as training: $what', ({ before, after, boxes }) => {
    const regions = findRegions({ before: map(...before), after: map(...after) }, { ...RULE, strong: 0.7 });
    const chosen = chooseRegionCrops(regions, FRAME, { ...rule, regions: 3 }).map(({ object: o }) => [
      o.x,
      o.y,
      o.width,
      o.height,
    ]);
    expect(chosen).toHaveLength(boxes.length);
    chosen.flat().forEach((value, i) => {
      expect(value).toBeCloseTo(boxes.flat()[i] as number, 6);
    });
  });
});
