/** The sentence of a change: of its own location, kind and side. */
import { describe, expect, it } from '@jest/globals';
import type { ObservedStatement } from '../../../src/camera/changes/state.js';
import type { ChangeRegion, FoundChange } from '../../../src/schemas/change.js';
import { observed, RULES, regionAt, run, second } from './scenario.js';

type Given = Parameters<typeof observed>[1];
const states = (text: string, kind: ObservedStatement['kind'], ...regions: ChangeRegion[]): ObservedStatement => ({
  caption: text,
  kind,
  regions,
});

/** The changes that open if two frames in a row show the same. */
function opened(given: Given): FoundChange[] {
  const { steps } = run([observed(second(1), given), observed(second(2), given)], RULES);
  return steps[1]?.changes.map(({ change }) => change) ?? [];
}
const sentences = (given: Given) => opened(given).map(({ kind, caption }) => `${kind}: ${caption}`);

describe('the sentence of a change', () => {
  const [left, right] = [regionAt(0), regionAt(3)];
  const gone = regionAt(3, { side: 'before' });

  it('is the one about its own location: two cars give two changes with one sentence each', () => {
    const given = {
      caption: 'a red car has appeared on the left and a white car has appeared on the right',
      regions: [left, right],
      statements: [
        states('a red car has appeared on the left', 'appear', left),
        states('a white car has appeared on the right', 'appear', right),
      ],
    };
    expect(sentences(given)).toEqual([
      'appear: A red car has appeared on the left.',
      'appear: A white car has appeared on the right.',
    ]);
  });

  it('is of its own kind: a thing that left does not have the sentence of one that came', () => {
    const given = {
      kind: 'multi' as const,
      caption: 'a cyclist has appeared and the car is gone',
      regions: [left, gone],
      statements: [states('a cyclist has appeared', 'appear', left), states('the car is gone', 'disappear', gone)],
    };
    expect(sentences(given)).toEqual(['appear: A cyclist has appeared.', 'disappear: The car is gone.']);
  });

  it.each(['a cyclist has appeared', 'the car has moved', 'a van has been replaced by a car'])(
    'is plain for a thing that left if the comparison says only "%s"',
    (caption) => {
      for (const statements of [null, []]) {
        expect(sentences({ caption, regions: [gone], statements })).toEqual([
          'disappear: Something on the right has disappeared.',
        ]);
      }
    },
  );

  it('is plain at a location that no statement is about', () => {
    const statements = [states('a red car has appeared', 'appear', left)];
    expect(sentences({ caption: 'a red car has appeared', regions: [left, right], statements })).toEqual([
      'appear: A red car has appeared.',
      'appear: Something has appeared on the right.',
    ]);
  });

  it('is the whole caption if the model states nothing about locations and there is only one', () => {
    const caption = 'A red car has appeared.';
    expect(sentences({ caption, regions: [left] })).toEqual([`appear: ${caption}`]);
    expect(sentences({ caption, regions: [left, right] })).toEqual([
      'appear: Something has appeared on the left.',
      'appear: Something has appeared on the right.',
    ]);
  });

  it('says what happened where both frames show something, and then the change has the regions of that side', () => {
    const hidden = regionAt(0, { side: 'before', shift: 0.02 });
    const regions = [left, hidden];
    const caption = 'A red car has appeared.';
    expect(opened({ regions, statements: [states(caption, 'appear', left)] })).toMatchObject([
      { kind: 'appear', caption, regions: [left] },
    ]);
    expect(opened({ regions, statements: [] })).toMatchObject([
      { kind: 'replace', caption: 'Something has been replaced on the left.', regions },
    ]);
  });

  it('joins the ends of a move', () => {
    const regions = [gone, left];
    const text = 'The person in black has moved to the left.';
    expect(opened({ kind: 'move', regions, statements: [states(text, 'move', left, gone)] })).toMatchObject([
      { kind: 'move', caption: text, regions },
    ]);
    expect(sentences({ kind: 'move', regions, statements: [] })).toEqual(['move: Something has moved on the right.']);
  });

  it.each([
    ['something has appeared', 'a car has appeared', 'A car has appeared.'],
    ['a car has appeared', 'something has appeared', 'A car has appeared.'],
    ['several things have changed', 'something has appeared', 'Something has appeared.'],
  ])('names the thing if one of the frames does: %s, %s', (first, later, expected) => {
    const frames = [first, later].map((text, i) => {
      const [region, statement] = [left, states(text, 'appear', left)];
      return observed(second(i + 1), { regions: [region], confidence: 0.8 + 0.1 * i, statements: [statement] });
    });
    expect(run(frames, RULES).steps[1]?.changes[0]?.change.caption).toBe(expected);
  });

  it('is of the most confident frame that shows the kind of most frames', () => {
    const other = regionAt(0, { side: 'before' });
    const frame = (n: number, region: ChangeRegion, confidence: number, text: string) =>
      observed(second(n), {
        regions: [region],
        confidence,
        statements: [states(text, region.side === 'after' ? 'appear' : 'disappear', region)],
      });
    const frames = [
      frame(1, left, 0.7, 'a car has appeared'),
      frame(2, left, 0.8, 'a red car has appeared'),
      frame(3, other, 0.99, 'the red car is gone'),
    ];
    const { steps } = run(frames, { ...RULES, confirmFrames: 3 });
    expect(steps[2]?.changes).toMatchObject([
      {
        change: {
          kind: 'appear',
          caption: 'A red car has appeared.',
          confidence: 0.8,
          regions: [left],
          comparisons: { best: `cmp_${second(2)}`, last: `cmp_${second(3)}` },
        },
      },
    ]);
  });
});
