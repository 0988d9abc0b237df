import type { Side } from '../../src/images.js';
import type { CaptionOutput } from '../../src/model/graph-io.js';
import type { MapRegion } from '../../src/model/regions.js';
import { stateLocations } from '../../src/pipeline/statements.js';

const VOCABULARY = [
  ...['<pad>', '<unk>', '<start>', '<end>'],
  ...'a the car van dog has appeared left moved been replaced by and is gone nothing changed'.split(' '),
];
const manifest = { vocabulary: VOCABULARY, special: { pad: 0, unk: 1, start: 2, end: 3 } };
const region = (side: Side, x: number): MapRegion => ({
  side,
  box: { x, y: 0.2, width: 0.1, height: 0.1 },
  area: 0.01,
  score: 0.7,
});
interface Crop {
  readonly regions: readonly MapRegion[];
  /** the words of a caption graph that sees this crop alone */
  readonly says: string;
}
const crop = (says: string, ...regions: MapRegion[]): Crop => ({ says, regions });

function outputOf(text: string): CaptionOutput {
  const words = text.split(' ');
  return {
    ids: BigInt64Array.from(words, (word) => BigInt(VOCABULARY.indexOf(word))),
    logProbabilities: Float32Array.from(words, () => Math.log(0.9)),
    length: words.length,
    attention: words.map(() => new Float32Array(1)),
    kindLogits: null,
  };
}

/** The statements, and the crops of each run of the caption graph besides the first. */
async function state(crops: readonly Crop[], kind = 'multi', whole = 'the dog has moved') {
  const runs: (readonly Crop[])[] = [];
  const describe = async (some: readonly Crop[]) => {
    runs.push(some);
    return outputOf(some.length === 1 ? (some[0]?.says ?? '') : whole);
  };
  return {
    statements: await stateLocations(crops, { kind, output: outputOf(whole) }, describe, manifest),
    runs,
  };
}

describe('stateLocations', () => {
  const [came, left] = [region('after', 0.1), region('before', 0.7)];

  it('runs the caption graph once per location, with its crop alone', async () => {
    const crops = [crop('a car has appeared', came), crop('the van is gone', left)];
    const { statements, runs } = await state(crops);
    expect(runs).toEqual([[crops[0]], [crops[1]]]);
    expect(statements).toEqual([
      { text: 'a car has appeared', kind: 'appear', regions: [came], score: expect.closeTo(0.9, 6) },
      { text: 'the van is gone', kind: 'disappear', regions: [left], score: expect.closeTo(0.9, 6) },
    ]);
  });

  it('takes the caption of the whole change for the only location', async () => {
    const { statements, runs } = await state([crop('', came)], 'appear', 'a van has appeared');
    expect(runs).toEqual([]);
    expect(statements).toMatchObject([{ text: 'a van has appeared', regions: [came] }]);
  });

  it('joins the two ends of a move, the strongest of either frame', async () => {
    const far = region('after', 0.4);
    const crops = [crop('a dog has appeared', came), crop('a car has appeared', far), crop('the dog has left', left)];
    const { statements, runs } = await state(crops, 'move');
    expect(runs).toEqual([[crops[2], crops[0]], [crops[1]]]);
    expect(statements).toMatchObject([
      { text: 'the dog has moved', kind: 'move', regions: [left, came] },
      { text: 'a car has appeared', kind: 'appear', regions: [far] },
    ]);
  });

  it.each([
    // words of the graph, sides of the crop, statement
    ['the van is gone', ['after'], undefined],
    ['the car has moved', ['before'], undefined],
    ['the car has been replaced by a van', ['after'], undefined],
    ['nothing has changed', ['after'], undefined],
    ['the van is gone and a car has appeared', ['after'], 'a car has appeared'],
    ['the van is gone and a car has appeared', ['before'], 'the van is gone'],
    ['the car has moved', ['before', 'after'], 'the car has moved'],
    ['the car has been replaced by a van', ['before', 'after'], 'the car has been replaced by a van'],
  ] as const)('of "%s" about a region of %j states %j', async (says, sides, stated) => {
    const { statements } = await state([crop(says, ...sides.map((side) => region(side, 0.4))), crop('a dog', came)]);
    expect(statements.map(({ text }) => text)).toEqual(stated === undefined ? [] : [stated]);
  });

  it('is about the side that its kind needs, where both frames show something', async () => {
    const hidden = region('before', 0.1);
    const { statements } = await state([crop('a car has appeared', came, hidden), crop('the van is gone', left)]);
    expect(statements[0]?.regions).toEqual([came]);
  });
});
