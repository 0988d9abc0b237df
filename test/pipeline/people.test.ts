/** People in the regions of a pair, with a detector whose boxes are given. */
import type { Box, RgbImage, Side } from '../../src/base/images.js';
import type { InferencePool } from '../../src/inference/pool.js';
import type { PairNames } from '../../src/model/graph-io.js';
import type { Bundle } from '../../src/model/manifest.js';
import type { MapRegion } from '../../src/model/regions.js';
import { peopledRegions, peopleOfRegions } from '../../src/pipeline/people.js';

const [WIDTH, HEIGHT] = [100, 100];
const RULE = { size: 64, margin: 1, min_side: 0, least: 0.3 };
const WORDS = {
  nouns: ['nothing', 'man', 'car'],
  wider: { man: 'person', car: 'vehicle', person: 'something', vehicle: 'something' },
  plural: {},
  colours: ['red'],
};
const manifest = { name: 'tiny', people: RULE, names: WORDS, glance: { size: 16, regions: 3, margin: 1, min_side: 0 } };
const bundle = { manifest } as unknown as Bundle;
/** A square, so that its crop of margin 1 is the region itself. */
const region = (side: Side = 'after'): MapRegion => ({
  side,
  box: { x: 0.2, y: 0.2, width: 0.4, height: 0.4 },
  area: 0.1,
  score: 0.9,
});
const shows = (noun: 'man' | 'car'): PairNames => {
  const nouns = Float32Array.from(WORDS.nouns, (word) => (word === noun ? 5 : -5));
  const names = { nouns, colours: Float32Array.of(0) };
  return { before: names, after: names };
};

function picture(...light: Box[]): RgbImage {
  const data = new Uint8Array(3 * WIDTH * HEIGHT).fill(40);
  for (const { x, y, width, height } of light) {
    for (let row = y * HEIGHT; row < (y + height) * HEIGHT; row++) {
      for (let column = x * WIDTH; column < (x + width) * WIDTH; column++) {
        data.fill(
          200,
          3 * (Math.round(row) * WIDTH + Math.round(column)),
          3 * (Math.round(row) * WIDTH + Math.round(column)) + 3,
        );
      }
    }
  }
  return { width: WIDTH, height: HEIGHT, data };
}

/** @param seen boxes in fractions of the crop */
async function peopleAt(
  seen: readonly Box[],
  options: { noun?: 'man' | 'car'; after?: RgbImage; bundle?: Bundle } = {},
) {
  const { noun = 'man', after = picture({ x: 0.2, y: 0.2, width: 0.4, height: 0.4 }) } = options;
  const run = async (_: string, __: string, { boxes }: { boxes: readonly unknown[] }) =>
    boxes.map(() => seen.map((box) => ({ box, score: 0.9 })));
  const at = region();
  const crops = [{ crop: at.box, object: at.box, regions: [at] }];
  const pool = { run } as unknown as InferencePool;
  const peopleIn = await peopleOfRegions(pool, options.bundle ?? bundle, { before: picture(), after }, crops, [
    shows(noun),
  ]);
  return peopleIn(at);
}
const [LEFT, RIGHT, WHOLE]: Box[] = [
  { x: 0, y: 0, width: 0.5, height: 1 },
  { x: 0.5, y: 0, width: 0.5, height: 1 },
  { x: 0.1, y: 0, width: 0.8, height: 1 },
];

it('are those whom the detector sees there, in fractions of the frame', async () => {
  const people = await peopleAt([LEFT as Box, RIGHT as Box]);
  expect(people).toHaveLength(2);
  expect(people[1]).toEqual({
    x: expect.closeTo(0.4),
    y: expect.closeTo(0.2),
    width: expect.closeTo(0.2),
    height: expect.closeTo(0.4),
  });
});

it('are no third person between two, who shows nothing that differs beside them', async () => {
  const between = { x: 0.3, y: 0, width: 0.4, height: 0.8 };
  expect(await peopleAt([LEFT as Box, RIGHT as Box, between])).toHaveLength(2);
  const narrow = { ...(LEFT as Box), width: 0.4 };
  expect(await peopleAt([narrow, { ...narrow, x: 0.6 }, { ...between, x: 0.35 }])).toHaveLength(3);
});

it('leave out who stands there in both frames', async () => {
  const after = picture({ x: 0.2, y: 0.2, width: 0.2, height: 0.4 });
  expect(await peopleAt([WHOLE as Box, RIGHT as Box], { after })).toHaveLength(1);
  expect(await peopleAt([RIGHT as Box], { after })).toEqual([]);
});

it('leave out a low part, and who is beside the region', async () => {
  const low = { x: 0.6, y: 0.5, width: 0.3, height: 0.3 };
  const beside = { x: 0.9, y: 0, width: 0.8, height: 1 };
  expect(await peopleAt([WHOLE as Box, low, beside])).toEqual([expect.objectContaining({ height: 0.4 })]);
});

it('are unknown if the only one fills little of the region', async () => {
  expect(await peopleAt([WHOLE as Box])).toHaveLength(1);
  expect(await peopleAt([{ ...(LEFT as Box), width: 0.3 }])).toEqual([]);
});

it('are unknown where no person is likely, and without a detector', async () => {
  expect(await peopleAt([WHOLE as Box], { noun: 'car' })).toEqual([]);
  const { people: _none, ...rest } = manifest;
  expect(await peopleAt([WHOLE as Box], { bundle: { manifest: rest } as unknown as Bundle })).toEqual([]);
});

it('examines the four strongest regions that show people', () => {
  const regions = Array.from({ length: 6 }, (_, i) => ({ ...region(), score: 1 - 0.1 * i }));
  const crops = regions.map((one) => ({ crop: one.box, object: one.box, regions: [one] }));
  const names = regions.map((_, i) => shows(i === 1 ? 'car' : 'man'));
  expect(peopledRegions(crops, names, WORDS)).toEqual([0, 2, 3, 4].map((i) => regions[i]));
});
