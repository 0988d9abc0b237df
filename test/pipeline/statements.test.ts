import { textOf, write } from '../../src/language/write.js';
import type { MapRegion } from '../../src/model/regions.js';
import { describeLocations } from '../../src/pipeline/statements.js';
import { type Crop, crop, describeWith, type Graph, kinds, manifest, outputOf, region } from './caption-rows.js';

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
          ['A car has appeared.', false],
          ['The van has moved to the left.', true],
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
