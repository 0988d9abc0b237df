/** The sentence of a comparison of which some regions do not count. */
import { describe, expect, it } from '@jest/globals';
import { restate } from '../../../src/camera/changes/restate.js';
import type { Finding, LocatedStatement, Region } from '../../../src/schemas/comparison.js';
import { finding as base } from '../../helpers/comparisons.js';
import { contentOf } from '../../helpers/content.js';

const region = (id: number, side: Region['side'], x: number): Region => ({
  id,
  side,
  box: { x, y: 0.4, width: 0.1, height: 0.2 },
  area: 0.02,
  score: 0.8,
});
const states = (text: string, kind: LocatedStatement['kind'], ...regions: number[]): LocatedStatement => {
  const [content] = contentOf(text).statements;
  return { text, kind, regions, score: 0.5, ...(content && { content }) };
};
/** A finding with the caption of the whole frame, and the regions and statements that are left. */
const left = (caption: string, regions: Region[], statements?: LocatedStatement[]): Finding => ({
  ...structuredClone(base as unknown as Finding),
  kind: 'multi',
  caption,
  words: caption.split(' ').map((text, i) => ({ text, score: 1 - i / 100 })),
  content: contentOf(caption),
  regions,
  ...(statements === undefined ? {} : { statements }),
});
const CAR = 'A red car has appeared on the left.';
const VAN = 'The white van on the right has disappeared.';
const BOTH = 'A red car has appeared on the left, and the white van on the right has disappeared.';
const LEFT = region(1, 'after', 0.1);

describe('the sentence of what counts', () => {
  it.each([
    ['the first clause', BOTH, CAR, 'appear', LEFT, 0],
    ['the last clause', BOTH, VAN, 'disappear', region(1, 'before', 0.8), 9],
  ] as const)(
    'is %s of the caption if the statement repeats it, with its words',
    (_what, caption, text, kind, one, at) => {
      const { finding, words } = restate(left(caption, [one], [states(text, kind, 1)]));
      expect(finding).toMatchObject({ caption: text, kind });
      expect(words).toEqual(text.split(' ').map((_word, i) => at + i));
      expect(finding.words).toEqual(text.split(' ').map((word, i) => ({ text: word, score: 1 - (at + i) / 100 })));
      const logs = finding.words.map(({ score }) => Math.log(score));
      const mean = Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
      expect(finding.caption_score).toBeCloseTo(mean, 10);
    },
  );

  it('is the whole caption if the statements that are left repeat all of it', () => {
    const found = left(BOTH, [LEFT, region(2, 'before', 0.8)], [states(VAN, 'disappear', 2), states(CAR, 'appear', 1)]);
    const { finding, words } = restate(found);
    expect(finding).toMatchObject({ caption: found.caption, words: found.words, kind: 'multi' });
    expect(words).toEqual(found.words.map((_word, i) => i));
  });

  it('is the statements if the caption says something else, at most two of them, each once', () => {
    const statements = [
      states(CAR, 'appear', 1),
      states(CAR, 'appear', 2),
      states(VAN, 'disappear', 3),
      states('A bag has appeared.', 'appear', 4),
    ];
    const regions = [LEFT, region(2, 'after', 0.4), region(3, 'before', 0.8), region(4, 'after', 0.6)];
    const { finding, words } = restate(left('a cyclist has appeared', regions, statements));
    expect(finding).toMatchObject({ caption: BOTH, kind: 'multi', caption_score: 0.5 });
    expect(finding.words.map(({ text }) => text).join(' ')).toBe(finding.caption);
    expect(words).toBeNull();
  });

  it.each([
    ['a thing that came', [LEFT], 'appear', 'Something has appeared on the left.'],
    ['a thing that left', [region(1, 'before', 0.8)], 'disappear', 'Something on the right has disappeared.'],
    ['both', [LEFT, region(2, 'before', 0.8)], 'multi', 'Several things have changed.'],
  ])('is plain for %s that no statement is about', (_what, regions, kind, caption) => {
    for (const statements of [undefined, []]) {
      const { finding, words } = restate(left(BOTH, regions, statements));
      expect(finding).toMatchObject({ kind, caption });
      expect(words).toBeNull();
    }
  });

  it('has the kind of the comparison if the regions show it: not a move of which one end counts', () => {
    const moved = (...regions: Region[]) => restate({ ...left('the bag has moved', regions), kind: 'move' }).finding;
    expect(moved(LEFT)).toMatchObject({ kind: 'appear', caption: 'Something has appeared on the left.' });
    expect(moved(region(1, 'before', 0.8), LEFT)).toMatchObject({
      kind: 'move',
      caption: 'Something has moved on the right.',
    });
  });
});
