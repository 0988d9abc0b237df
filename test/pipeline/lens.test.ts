import type { Prediction } from '../../src/model/calibration.js';
import type { Difference } from '../../src/model/graph-io.js';
import type { LensManifest } from '../../src/model/lens-schema.js';
import type { MapRegion } from '../../src/model/regions.js';
import type { Wanted } from '../../src/pipeline/describe.js';
import { locate } from '../../src/pipeline/lens.js';
import type { FramePair } from '../../src/pipeline/pair.js';
import { measureRegion } from '../../src/viewpoint/lens/measure.js';
import { altered, street } from '../viewpoint/scenes.js';

const before = street('lens');
const after = altered(before, (value) => value * 0.6);
const frames = { before, after } as unknown as FramePair;
/** Regions with a score of the map above a half are of the scene, by .4 and more with odds of e to the eighth. */
const ALONE = { weights: { region: 1, others: 0 }, offset: 0 };
const lens: LensManifest = {
  trees: [[['score', 0.5, 1, 2], ['score', 0.25, 3, 4], ['score', 0.6, 5, 6], -5, -4, 1, 8], [0]],
  offset: 0,
  beside: ALONE,
};
const prediction: Prediction = { change: 0.9, changed: true, nuisances: [], kind: { name: 'appear', score: 1 } };
const regionAt = (x: number, score: number): MapRegion => ({
  side: 'after',
  box: { x, y: 0, width: 0.25, height: 0.5 },
  area: 0.125,
  score,
});
const maps = {
  before: { width: 4, height: 2, data: new Float32Array(8).fill(0.1) },
  after: { width: 4, height: 2, data: new Float32Array(8).fill(0.8) },
} as unknown as Difference;
const pool = {
  run: async (_operation: string, _bundle: string, { regions }: { regions: MapRegion[] }) =>
    regions.map(({ side, box }) => measureRegion(frames, side, box)),
};
const parts = { pool, encoder: { encodeCrops: async () => [] } } as unknown as Parameters<typeof locate>[0];
const wantedOf = (rule?: LensManifest) =>
  ({
    bundle: { manifest: { name: 'x', glance: null, names: {}, lens: rule } },
    statements: false,
  }) as unknown as Wanted;
const located = (regions: MapRegion[], rule: LensManifest | undefined = lens) =>
  locate(parts, wantedOf(rule), { frames, difference: maps }, prediction, regions);

describe('locate', () => {
  it('keeps the regions of the scene, names the lens, and clears the map where it is', async () => {
    const found = await located([regionAt(0, 0.9), regionAt(0.5, 0.2)]);
    expect(found.regions).toMatchObject([{ ...regionAt(0, 0.9), scene: expect.closeTo(0.999, 2) }]);
    expect(found.prediction).toMatchObject({ change: 0.9, changed: true, nuisances: [{ name: 'lens' }] });
    expect([...found.maps.after.data.slice(0, 4)].map((value) => value > 0)).toEqual([true, true, false, true]);
    expect(found.maps.before).toEqual(maps.before);
    expect(found.evidence.map(({ probability }) => probability > 0.5)).toEqual([true, false]);
    expect(found.onLens).toMatchObject([regionAt(0.5, 0.2)]);
    expect(found.mostOnLens).toBe(false);
  });

  it('calls a pair unchanged if all regions lie on the lens', async () => {
    const { prediction: answer, regions, mostOnLens } = await located([regionAt(0, 0.3), regionAt(0.5, 0.2)]);
    expect({ regions, mostOnLens }).toEqual({ regions: [], mostOnLens: true });
    expect(answer.changed).toBe(false);
    expect(answer.change).toBeLessThan(0.05);
    expect(answer.nuisances[0]?.score).toBeGreaterThan(0.9);
  });

  it('takes a region for one of the lens if the others of the pair are', async () => {
    const byOthers = { ...lens, beside: { weights: { region: 1, others: 0.5 }, offset: 0 } };
    const drops = [regionAt(0, 0.55), regionAt(0.25, 0.2), regionAt(0.5, 0.2)];
    expect((await located([regionAt(0, 0.55)], byOthers)).regions).toHaveLength(1);
    expect((await located(drops)).regions).toHaveLength(1);
    expect((await located(drops, byOthers)).regions).toEqual([]);
  });

  it('looks where the maps show most if no region shows the change', async () => {
    const shown = (score: number) => {
      const after = { width: 4, height: 2, data: Float32Array.of(0, score, 0, 0, 0, 0, 0, 0) };
      const difference = { before: { ...after, data: new Float32Array(8) }, after } as unknown as Difference;
      return locate(parts, wantedOf(lens), { frames, difference }, prediction, []);
    };
    expect(await shown(0.9)).toMatchObject({ regions: [], crops: [], prediction: { changed: true } });
    expect(await shown(0.2)).toMatchObject({
      regions: [],
      prediction: { changed: false, nuisances: [{ name: 'lens' }] },
    });
  });

  it('leaves pairs as they are without such regions, and of a bundle without the trees', async () => {
    const scene = await located([regionAt(0, 0.9)]);
    expect(scene.prediction).toBe(prediction);
    expect(scene.maps).toBe(maps);
    const plain = await locate(parts, wantedOf(), { frames, difference: maps }, prediction, [regionAt(0, 0.1)]);
    expect(plain).toMatchObject({ regions: [regionAt(0, 0.1)], prediction, evidence: [] });
  });
});
