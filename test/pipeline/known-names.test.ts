/** Statements of locations of which the names are known. */
import type { KnownNames } from '../../src/pipeline/location-statement.js';
import { type Crop, crop, describeWith, region } from './caption-rows.js';

describe('describeLocations with known names', () => {
  const [came, left] = [region('after', 0.1), region('before', 0.7)];

  it('asks about no move between things that their names distinguish', async () => {
    const crops = [crop('a car has appeared', came), crop('the dog has left', left)];
    const names: KnownNames<Crop> = {
      mayBeOne: () => false,
      isThing: () => ({ before: true, after: true }),
      ...{ beings: [], exchanges: [] },
    };
    const { stated, runs, ends } = await describeWith(crops, { ends: 'the dog has moved', names });
    expect(runs[0]).toHaveLength(3);
    expect(ends).toEqual([{ before: 1, after: 0, kindLogits: null }]);
    expect(stated.map(({ kind }) => kind)).toEqual(['appear', 'disappear']);
  });

  it.each([
    ['the van has been replaced by a car', [['the van has been replaced by a car', 'replace']]],
    [
      'the car has moved',
      [
        ['a car has appeared', 'appear'],
        ['the van is gone', 'disappear'],
      ],
    ],
  ])('asks about two vehicles of one location together: %s', async (around, expected) => {
    const [after, before] = [region('after', 0.1), region('before', 0.12)];
    const names: KnownNames<Crop> = {
      mayBeOne: () => false,
      isThing: () => ({ before: true, after: true }),
      ...{ beings: [], exchanges: [{ around: crop(around, before, after), before: 1, after: 0 }] },
    };
    const crops = [crop('a car has appeared', after), crop('the van is gone', before)];
    const { stated, statements } = await describeWith(crops, { names });
    expect(stated.map(({ text, kind }) => [text, kind])).toEqual(expected);
    // The names of the vehicles come from their own crops, that of "before" first.
    expect(statements[0]?.at).toEqual(expected.length === 1 ? [1, 0] : [0]);
  });

  describe('with a being that the names show once in each frame', () => {
    const known = (before: number, after: number): KnownNames<Crop> => ({
      mayBeOne: () => false,
      isThing: () => ({ before: false, after: false }),
      ...{ beings: [{ word: 'person', before, after }], exchanges: [] },
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
      const names: KnownNames<Crop> = {
        mayBeOne: () => true,
        isThing: () => ({ before: is && side === 'before', after: is && side === 'after' }),
        ...{ beings: [], exchanges: [] },
      };
      const crops = [crop('nothing has changed', region(side, 0.1)), crop('the dog has left', left)];
      const { statements, stated } = await describeWith(crops, { names });
      expect(stated.map((one) => one.text)).toEqual([...(text === undefined ? [] : [text]), 'the dog has left']);
      if (text === undefined) return;
      const weights = statements[0]?.words.map(({ attention }) => attention?.weights[0]);
      expect(new Set(weights)).toEqual(new Set([1])); // the mean over the graph's three words
    },
  );
});
