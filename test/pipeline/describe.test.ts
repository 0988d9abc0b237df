import type { Side } from '../../src/base/images.js';
import { textOf } from '../../src/language/write.js';
import type { Difference, PairNames } from '../../src/model/graph-io.js';
import type { Bundle } from '../../src/model/manifest.js';
import { chooseRegionCrops, type MapRegion, type RegionCrop } from '../../src/model/regions.js';
import { type CaptionParts, describePair } from '../../src/pipeline/describe.js';
import { cropNames, NAMES } from '../model/names.js';
import { judgeOf } from './judges.js';

const NOTHING = cropNames({ nothing: 0.98 });
const MAN = cropNames({ man: 0.9, nothing: 0.01 });
const CAR = cropNames({ car: 0.9, nothing: 0.01 });

const VOCABULARY = ['<pad>', '<unk>', '<start>', '<end>', 'nothing', 'changed'];
const FACTS = {
  ...{ place: { scale: 1, offset: 0 }, third: 0.95, sideways: 0.95, depth: 0.95, one: 0.9, several: 0.7 },
};
const GLANCE = { size: 112, regions: 3, margin: 1.35, min_side: 0.075 };
const FRAME = { width: 64, height: 48, data: new Uint8Array(64 * 48 * 3) };

const region = (side: Side, x: number, size: number, area = size * size): MapRegion => ({
  side,
  box: { x, y: 0.3, width: size, height: size },
  area,
  score: 0.9,
});

/**
 * Describes a pair whose crops show what `namesOf` says; the caption graph has no fitting clause for any of them.
 * @returns the regions of each location, and their number of encoded crops
 */
async function locationsOf(
  regions: readonly MapRegion[],
  namesOf: (crop: RegionCrop) => PairNames,
  exchanged?: Pick<Difference, 'memory' | 'kindLogits'>,
) {
  const encoded: RegionCrop[] = [];
  const ran: string[] = [];
  const output = {
    ids: BigInt64Array.of(4n, 5n),
    logProbabilities: new Float32Array(2),
    length: 2,
    attention: [new Float32Array(1), new Float32Array(1)],
    kindLogits: null,
  };
  const parts = {
    encoder: {
      encodeCrops: async (_: Bundle, __: unknown, all: readonly MapRegion[], most: number) => {
        encoded.push(...chooseRegionCrops(all, FRAME, { ...GLANCE, regions: most }));
        return [...encoded];
      },
    },
    pool: {
      run: async (graph: string, _: string, items: readonly RegionCrop[]) => {
        ran.push(graph);
        return graph === 'difference' ? {} : graph === 'name' ? items.map(namesOf) : items.map(() => output);
      },
    },
  } as unknown as CaptionParts;
  const manifest = {
    name: 'made',
    graphs: {},
    glance: GLANCE,
    names: NAMES,
    judge: judgeOf({ link: { offset: -4 }, single: { offset: 2 }, move: { offset: 2 } }),
    vocabulary: VOCABULARY,
    kinds: ['none', 'appear'],
  };
  const bundle = {
    manifest: { ...manifest, special: { pad: 0, unk: 1, start: 2, end: 3 }, calibration: { facts: FACTS } },
  };
  const frames = { before: FRAME, after: FRAME };
  const pair = { frames, features: frames, difference: { memory: null, kindLogits: null, exchanged } };
  const { crops, description } = await describePair(
    parts,
    { bundle: bundle as unknown as Bundle, statements: false, truth: 0.9, secondsApart: null },
    pair as unknown as Parameters<typeof describePair>[2],
    regions,
  );
  return {
    locations: crops.map((crop) => crop.regions),
    texts: description.statements.map(({ words }) => textOf(words)),
    encoded: encoded.length,
    ran,
  };
}

describe('describePair', () => {
  const person = region('before', 0.4, 0.3);
  const bag = region('after', 0.5, 0.2);

  it('states what each frame shows at one location, by one crop', async () => {
    const { locations, texts, encoded } = await locationsOf([person, bag], () => ({ before: MAN, after: CAR }));
    expect([locations, encoded]).toEqual([[[person, bag]], 1]);
    expect(texts).toEqual(['the man in dark clothes in the middle has left', 'a dark car has appeared in the middle']);
  });

  it('compares the exchanged frames only if the first comparison did not', async () => {
    const namesOf = () => ({ before: MAN, after: NOTHING });
    const exchanged = { memory: new Float32Array(1), kindLogits: new Float32Array(2) };
    expect((await locationsOf([person], namesOf)).ran).toContain('difference');
    expect((await locationsOf([person], namesOf, exchanged)).ran).not.toContain('difference');
  });

  it('names nothing without regions', async () => {
    expect(await locationsOf([], () => ({ before: NOTHING, after: NOTHING }))).toMatchObject({ locations: [] });
  });
});
