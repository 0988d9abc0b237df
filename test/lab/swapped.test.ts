import type { Prediction } from '../../lab/figures/predictions.js';
import { evaluate } from '../../lab/figures/report.js';
import { swappedFigures } from '../../lab/figures/swapped.js';
import { formatReport } from '../../lab/figures/table.js';
import { appeared, unchanged } from './labels.js';

const answer = (caption: string, kind = 'appear', verdict = 'change') => ({ verdict, kind, caption }) as const;
type Answer = Parameters<typeof swappedFigures>[1][number];

/** Figures of one changed pair, as shares. */
function ratesOf(forth: unknown, back: unknown) {
  const figures = swappedFigures([appeared], [forth as Answer], [back as Answer]);
  return Object.values(figures).map(({ rate }) => rate);
}

describe('swappedFigures', () => {
  it.each([
    // answered, kind reversed, same nouns, alike nouns
    ['the reversed answer', 'a van has appeared', 'appear', 'the van has left', 'disappear', [1, 1, 1, 1]],
    ['a synonym', 'a truck has appeared', 'appear', 'the lorry has left', 'disappear', [1, 1, 1, 1]],
    ['several of them', 'a man has appeared', 'appear', 'two men have left', 'disappear', [1, 1, 1, 1]],
    ['a wider noun', 'a man has appeared', 'appear', 'the person has left', 'disappear', [1, 1, 0, 1]],
    ['another noun of the class', 'a van has appeared', 'appear', 'the car has left', 'disappear', [1, 1, 0, 0]],
    ['the kind that stays', 'a van has appeared', 'appear', 'a van has appeared', 'appear', [1, 0, 1, 1]],
    ['a move that stays one', 'the van has moved', 'move', 'the van has moved', 'move', [1, 1, 1, 1]],
    ['one thing more', 'a van and a man have come', 'appear', 'the van has left', 'disappear', [1, 1, 0, 0]],
  ] as const)('counts %s', (_, forth, kind, back, other, expected) => {
    expect(ratesOf(answer(forth, kind), answer(back, other))).toEqual(expected);
  });

  it('asks only about changed pairs that both directions answer with a change', () => {
    expect(ratesOf(answer('a van has appeared'), answer('nothing has changed', 'none', 'none'))).toEqual([
      0,
      null,
      null,
      null,
    ]);
    const quiet = answer('nothing has changed', 'none', 'none') as Answer;
    expect(swappedFigures([unchanged], [quiet], [quiet]).answered.of).toBe(0);
  });
});

it('prints the figures with the number of cases', () => {
  const said = (caption: string, kind: string) =>
    ({ ...answer(caption), kind, id: 'p', confidence: 1, regions: [], timings_ms: {} }) as unknown as Prediction;
  const run = { name: 'm', predictions: [said('a van has appeared', 'appear')] };
  const swapped = [said('the car has left', 'disappear')];
  const text = formatReport(evaluate([appeared], run, { swapped }));
  expect(text).toMatch(/kind reversed +100\.0 % +1 of 1/);
  expect(text).toMatch(/same nouns +0\.0 % +0 of 1/);
  expect(formatReport(evaluate([appeared], run))).not.toContain('swapped');
});
