import { bestByFacts, bestByWords } from '../../lab/figures/constants.js';
import { normalise, parsePairs } from '../../lab/figures/pairs.js';

const FRAME = { width: 100, height: 100 };
const pairsOf = (...lines: object[]) =>
  parsePairs(
    lines.map((line, i) => JSON.stringify({ id: `${i}`, before: 'b', after: 'a', ...line })).join('\n'),
    'pairs.ndjson',
  ).map((pair) => normalise(pair, { before: FRAME, after: FRAME }));

const unchanged = { references: ['nothing has changed'], verdict: 'none', kind: 'none' };
const appeared = (noun: string, colour: string, references: string[], kind = 'appear') => ({
  references,
  verdict: 'change',
  kind,
  objects: [{ noun, colour, action: 'appeared', where: 'on the left', boxes_after: [[10, 50, 10, 10]] }],
});
const pairs = pairsOf(
  unchanged,
  unchanged,
  unchanged,
  unchanged,
  appeared('car', 'red', ['a car is there now']),
  appeared('car', 'red', ['somebody parked a car']),
  appeared('man', 'black', ['a man in black has appeared on the left'], 'multi'),
);

it('the best sentence by words may be that of the unchanged majority', () => {
  expect(bestByWords(pairs)).toBe('nothing has changed');
});

it('the best sentence by facts is the reference or prediction that is true of most changed pairs', () => {
  expect(
    bestByFacts(
      pairs,
      pairs.map(() => 'nothing has changed'),
    ),
  ).toEqual({
    caption: 'a man in black has appeared on the left',
    kind: 'appear',
  });
  const predicted = 'a red car has appeared on the left';
  expect(
    bestByFacts(
      pairs,
      pairs.map(() => predicted),
    )?.caption,
  ).toBe(predicted);
});

it('predictions of unchanged pairs are no candidates, and without changed pairs there is no best sentence', () => {
  const predicted = pairs.map((pair) => (pair.changed ? '' : 'a red car has appeared on the left'));
  expect(bestByFacts(pairs, predicted)?.caption).toBe('a man in black has appeared on the left');
  expect(bestByFacts(pairsOf(unchanged), ['nothing has changed'])).toBeNull();
});
