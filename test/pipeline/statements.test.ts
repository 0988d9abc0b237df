import type { Side } from '../../src/images.js';
import { textOf, write } from '../../src/language/write.js';
import type { CaptionOutput } from '../../src/model/graph-io.js';
import type { MapRegion } from '../../src/model/regions.js';
import type { KnownNames } from '../../src/pipeline/location-statement.js';
import { describeLocations, type RunCaptions } from '../../src/pipeline/statements.js';

const VOCABULARY = [
  ...['<pad>', '<unk>', '<start>', '<end>'],
  ...'a the car van dog has appeared left moved been replaced by and is gone nothing changed to right'.split(' '),
];
const kinds = ['none', 'appear', 'disappear', 'move', 'replace', 'multi'];
const manifest = { vocabulary: VOCABULARY, special: { pad: 0, unk: 1, start: 2, end: 3 }, kinds };
const region = (side: Side, x: number): MapRegion => ({
  side,
  box: { x, y: 0.2, width: 0.1, height: 0.1 },
  area: 0.01,
  score: 0.7,
});
interface Crop {
  readonly crop: MapRegion['box'];
  readonly regions: readonly MapRegion[];
  /** the words of a caption graph that sees this crop alone */
  readonly says: string;
}
const crop = (says: string, first: MapRegion, ...others: MapRegion[]): Crop => ({
  crop: { ...first.box, y: 0.1 },
  regions: [first, ...others],
  says,
});

/** Row t of its attention is [t]. */
function outputOf(text: string): CaptionOutput {
  const words = text === '' ? [] : text.split(' ');
  return {
    ids: BigInt64Array.from(words, (word) => BigInt(VOCABULARY.indexOf(word))),
    logProbabilities: Float32Array.from(words, () => Math.log(0.9)),
    length: words.length,
    attention: words.map((_, t) => Float32Array.of(t)),
    kindLogits: null,
  };
}

/** The words of a row that ends after `count` clauses, with the "and" before the next one. */
function firstClauses(text: string, count: number): string {
  const clauses = text.split(' and ');
  return count === 0 ? '' : clauses.slice(0, count).join(' and ') + (clauses.length > count ? ' and' : '');
}

interface Graph {
  /** its words if it sees the strongest crops together */
  readonly inOne?: string;
  /** whether its rows end after the clauses that are asked for */
  readonly ending?: boolean;
  /** its words if it sees two crops that only one frame shows */
  readonly ends?: string | ((set: readonly Crop[]) => string);
  readonly most?: number;
  readonly names?: KnownNames;
}

/** The statements, and the sets of crops of each run of the caption graph. */
async function describeWith(crops: readonly Crop[], graph: Graph = {}) {
  const { inOne = 'a dog', ends = 'a dog', most = 3, names, ending = false } = graph;
  const runs: (readonly (readonly Crop[])[])[] = [];
  const strongest = crops.slice(0, most);
  const saysOf = (set: readonly Crop[]) => {
    if (set.length === strongest.length && set.every((one, i) => one === strongest[i])) return inOne;
    return set.length === 1 ? (set[0]?.says ?? '') : typeof ends === 'string' ? ends : ends(set);
  };
  const run: RunCaptions<Crop> = async (sets, clauses) => {
    runs.push(sets);
    return sets.map((set, i) => outputOf(ending ? firstClauses(saysOf(set), clauses[i] as number) : saysOf(set)));
  };
  const described = await describeLocations(crops, strongest, run, manifest, names);
  const { statements, ends: candidates, joint } = described;
  const stated = statements.map(({ words, statement, regions }) => ({
    text: textOf(words),
    kind: statement.kind,
    regions,
  }));
  return { statements, stated, runs, ends: candidates, written: joint.length };
}

describe('describeLocations', () => {
  const [came, left] = [region('after', 0.1), region('before', 0.7)];

  it('runs the caption graph once: the strongest together, each alone, and the ends of a possible move', async () => {
    const crops = [crop('a car has appeared', came), crop('the van is gone', left), crop('a', region('after', 0.4))];
    const { stated, runs } = await describeWith(crops, { most: 2 });
    const [a, b, c] = crops;
    expect(runs).toEqual([[[a, b], [a], [b], [c], [b, a]]]);
    expect(stated).toEqual([
      { text: 'a car has appeared', kind: 'appear', regions: [came] },
      { text: 'the van is gone', kind: 'disappear', regions: [left] },
    ]);
  });

  it('takes the words about all for the only location, in one row', async () => {
    const { stated, runs } = await describeWith([crop('', came)], { inOne: 'a van has appeared' });
    expect(runs.map((sets) => sets.length)).toEqual([1]);
    expect(stated).toMatchObject([{ text: 'a van has appeared', regions: [came] }]);
  });

  it('states nothing without crops, after one row', async () => {
    const { stated, runs } = await describeWith([]);
    expect([stated, runs]).toEqual([[], [[[]]]]);
  });

  it('is one statement at the stronger end if the clause about both ends is a move', async () => {
    const far = region('after', 0.4);
    const crops = [crop('a dog has appeared', came), crop('a car has appeared', far), crop('the dog has left', left)];
    const { stated } = await describeWith(crops, { ends: 'the dog has moved' });
    expect(stated).toEqual([
      { text: 'the dog has moved', kind: 'move', regions: [left, came] },
      { text: 'a car has appeared', kind: 'appear', regions: [far] },
    ]);
  });

  it('finds the end of a move behind a stronger thing that came, each thing at one move only', async () => {
    const [came, left, end] = [region('after', 0.8), region('before', 0.5), region('after', 0.4)];
    const crops = [crop('a car has appeared', came), crop('the dog has left', left), crop('a dog has appeared', end)];
    const ends = (set: readonly Crop[]) => (set[1] === crops[2] ? 'the dog has moved' : 'a car has appeared');
    const { stated, runs } = await describeWith(crops, { ends });
    expect(stated).toEqual([
      { text: 'a car has appeared', kind: 'appear', regions: [came] },
      { text: 'the dog has moved', kind: 'move', regions: [left, end] },
    ]);
    expect(runs).toHaveLength(1);
  });

  it.each(['the dog has left', 'the dog has moved and a car has appeared', 'nothing has changed'])(
    'is two statements if the clause about both ends is "%s"',
    async (ends) => {
      const crops = [crop('a dog has appeared', came), crop('the dog has left', left)];
      const { stated } = await describeWith(crops, { ends });
      expect(stated.map(({ kind }) => kind)).toEqual(['appear', 'disappear']);
    },
  );

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
  ] as const)('of "%s" about a region of %j states %j', async (says, sides, expected) => {
    const [first, ...others] = sides.map((side) => region(side, 0.4));
    const crops = [crop(says, first as MapRegion, ...others), crop('a dog', came)];
    const { stated } = await describeWith(crops);
    expect(stated.map(({ text }) => text)).toEqual(expected === undefined ? [] : [expected]);
  });

  describe('with a graph whose rows end after a clause', () => {
    const graph: Graph = { ending: true, inOne: 'a car has appeared and the van is gone', ends: 'a dog' };

    it('needs one run if the first clauses fit, and no words about all', async () => {
      const crops = [
        crop('a car has appeared and the van is gone', came),
        crop('the van is gone and a dog has left', left),
      ];
      const { stated, runs, written } = await describeWith(crops, graph);
      expect(stated.map(({ text }) => text)).toEqual(['a car has appeared', 'the van is gone']);
      expect([runs.length, written]).toEqual([1, 0]);
    });

    it('runs a row again whose first clause does not fit', async () => {
      const crops = [crop('the van is gone and a car has appeared', came), crop('the van is gone', left)];
      const { stated, runs } = await describeWith(crops, graph);
      expect(stated.map(({ text }) => text)).toEqual(['a car has appeared', 'the van is gone']);
      expect(runs.slice(1)).toEqual([[[crops[0]]]]);
    });

    it('writes the words about all if no location has a statement', async () => {
      const crops = [crop('nothing has changed', came), crop('nothing has changed', left)];
      const { stated, runs, written } = await describeWith(crops, graph);
      expect([stated, written]).toEqual([[], 9]);
      expect(runs.slice(1)).toEqual([[crops]]);
    });

    it('is no move if a further clause follows', async () => {
      const crops = [crop('a dog has appeared', came), crop('the dog has left', left)];
      const ends = 'the dog has moved and a car has appeared';
      const { stated, runs } = await describeWith(crops, { ...graph, ends });
      expect(stated.map(({ kind }) => kind)).toEqual(['appear', 'disappear']);
      expect(runs).toHaveLength(1);
    });
  });

  it('is about the side that its kind needs, where both frames show something', async () => {
    const hidden = region('before', 0.1);
    const { stated } = await describeWith([crop('a car has appeared', came, hidden), crop('the van is gone', left)]);
    expect(stated[0]?.regions).toEqual([came]);
  });

  it('keeps the attention of the clause, with the boxes of the crops of its own row', async () => {
    const crops = [crop('the van is gone and a car has appeared', came), crop('the van is gone', left)];
    const { statements } = await describeWith(crops);
    expect(statements[0]?.words.map(({ attention }) => attention?.weights[0])).toEqual([5, 6, 7, 8]);
    expect(statements.map(({ words }) => words[0]?.attention?.crops)).toEqual(crops.map((one) => [one.crop]));
  });

  it('asks about no move between things that their names distinguish', async () => {
    const crops = [crop('a car has appeared', came), crop('the dog has left', left)];
    const names: KnownNames = {
      mayBeOne: () => false,
      isThing: () => ({ before: true, after: true }),
      beings: [],
    };
    const { stated, runs, ends } = await describeWith(crops, { ends: 'the dog has moved', names });
    expect(runs[0]).toHaveLength(3);
    expect(ends).toEqual([{ before: 1, after: 0, kindLogits: null }]);
    expect(stated.map(({ kind }) => kind)).toEqual(['appear', 'disappear']);
  });

  describe('with a being that the names show once in each frame', () => {
    const known = (before: number, after: number): KnownNames => ({
      mayBeOne: () => false,
      isThing: () => ({ before: false, after: false }),
      beings: [{ word: 'person', before, after }],
    });
    const moved = { text: 'the object has moved', kind: 'move' };

    it('is a move at the stronger location, whatever the graph writes about them', async () => {
      const far = region('after', 0.4);
      const crops = [crop('a car has appeared', came), crop('a car has appeared', far), crop('the dog has left', left)];
      const { stated } = await describeWith(crops, { names: known(2, 0) });
      expect(stated).toEqual([
        { ...moved, regions: [left, came] },
        { text: 'a car has appeared', kind: 'appear', regions: [far] },
      ]);
    });

    it.each(['a dog has appeared', 'nothing has changed'])(
      'is a move at one location (the graph: %s)',
      async (says) => {
        const end = region('before', 0.12);
        const { stated } = await describeWith([crop('', came, end)], { inOne: says, names: known(0, 0) });
        expect(stated).toEqual([{ ...moved, regions: [end, came] }]);
      },
    );

    it('keeps the move that the graph wrote, at one location and of another pair of ends', async () => {
      const here = crop('', came, region('before', 0.12));
      const alone = await describeWith([here], { inOne: 'the dog has moved to the right', names: known(0, 0) });
      expect(alone.stated).toMatchObject([{ text: 'the dog has moved to the right' }]);
      const crops = [crop('a car has appeared', came), crop('the dog has left', left), crop('a', region('after', 0.4))];
      const names = { ...known(1, 2), mayBeOne: (_: number, after: number) => after === 0 };
      const { stated } = await describeWith(crops, { ends: 'the dog has moved', names });
      expect(stated).toEqual([{ text: 'the dog has moved', kind: 'move', regions: [left, came] }]);
    });
  });

  it.each([
    ['after', true, 'an object has appeared on the left'],
    ['before', true, 'the object on the left is gone'],
    ['after', false, undefined],
  ] as const)(
    'has plain words for a thing of %s that the graph has no clause for (sure: %s)',
    async (side, is, text) => {
      const names: KnownNames = {
        mayBeOne: () => true,
        isThing: () => ({ before: is && side === 'before', after: is && side === 'after' }),
        beings: [],
      };
      const crops = [crop('nothing has changed', region(side, 0.1)), crop('the dog has left', left)];
      const { statements, stated } = await describeWith(crops, { names });
      expect(stated.map((one) => one.text)).toEqual([...(text === undefined ? [] : [text]), 'the dog has left']);
      if (text === undefined) return;
      const weights = statements[0]?.words.map(({ attention }) => attention?.weights[0]);
      expect(new Set(weights)).toEqual(new Set([1])); // the mean over the graph's three words
    },
  );

  describe('with the words about the exchanged frames', () => {
    const both = region('before', 0.12);
    /** The kinds by their probability; of one direction unless `about` the exchanged frames there are words. */
    const describedAs = async (forwards: string, about: string, shares: Partial<Record<string, number>>) => {
      const kindLogits = Float32Array.from(kinds, (kind) => Math.log(shares[kind] ?? 1e-6));
      const crops = [crop('', came, both), crop('', left)];
      const run = async (sets: readonly (readonly Crop[])[]) =>
        sets.map((set) => {
          const isFirst = set.length === 1 && set[0] === crops[0];
          const [ahead, back] = isFirst ? [forwards, about] : ['nothing', 'nothing'];
          return { ...outputOf(ahead), kindLogits, reversed: outputOf(back) };
        });
      const { statements } = await describeLocations(crops, crops, run, manifest);
      return statements.map(({ words, statement, decoded }) => ({
        text: textOf(words),
        kind: statement.kind,
        decoded: decoded.map((one) => [write(one.statement), one.reversed]),
      }));
    };

    it('takes the more probable kind, and keeps both clauses for the names', async () => {
      const [found] = await describedAs('a car has appeared', 'the van has moved to the left', {
        move: 0.7,
        appear: 0.2,
      });
      expect(found).toEqual({
        text: 'the van has moved to the right',
        kind: 'move',
        decoded: [
          ['a car has appeared', false],
          ['the van has moved to the left', true],
        ],
      });
    });

    it('keeps its own words if their kind is the more probable one', async () => {
      const [found] = await describedAs('a car has appeared', 'the van has moved', { move: 0.2, appear: 0.7 });
      expect(found).toMatchObject({ text: 'a car has appeared', kind: 'appear' });
    });

    it('puts what only the other direction says into plain words, if that is probable', async () => {
      const [found, ...others] = await describedAs('nothing', 'the van is gone', { appear: 0.6, move: 0.4 });
      expect(found).toMatchObject({ text: 'an object has appeared on the left', kind: 'appear' });
      expect(others).toEqual([]);
      expect(await describedAs('nothing', 'the van is gone', { appear: 0.4, move: 0.6 })).toEqual([]);
      expect(await describedAs('a car has appeared', 'nothing', { appear: 0.4, move: 0.6 })).toEqual([]);
    });
  });
});
