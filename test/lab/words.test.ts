import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { bleu } from '../../lab/figures/words/bleu.js';
import { CiderScorer, ciderD, documentFrequencies } from '../../lab/figures/words/cider.js';
import { longestCommonSubsequence, rougeL } from '../../lab/figures/words/rouge.js';
import { toSegment } from '../../lab/figures/words/scores.js';
import { tokenize } from '../../lab/figures/words/tokenize.js';

const read = (name: string) => JSON.parse(readFileSync(new URL(`golden/${name}.json`, import.meta.url), 'utf8'));
/** words.json has the results of pycocoevalcap 1.2 for captions.json (golden/make.py). */
const golden = read('words');
const given = read('captions') as {
  pairs: { candidate: string; references: string[] }[];
  sentences: string[];
};
const segments = given.pairs.map(({ candidate, references }) => toSegment(candidate, references));

describe('the same numbers as pycocoevalcap, to 1e-9', () => {
  it('BLEU-1 to BLEU-4', () => {
    for (const [i, value] of bleu(segments).entries()) expect(value).toBeCloseTo(golden.bleu[i], 9);
  });

  it('ROUGE-L of the set and of each pair', () => {
    expect(rougeL(segments)).toBeCloseTo(golden.rouge_l.all, 9);
    for (const [i, segment] of segments.entries()) {
      expect(rougeL([segment])).toBeCloseTo(golden.rouge_l.each[i], 9);
    }
  });

  it('CIDEr-D of the set and of each pair', () => {
    expect(ciderD(segments)).toBeCloseTo(golden.cider_d.all, 9);
    const scorer = new CiderScorer(segments.map(({ references }) => references));
    for (const [i, { candidate }] of segments.entries()) {
      expect(scorer.score(candidate, i)).toBeCloseTo(golden.cider_d.each[i], 9);
    }
  });

  it('tokens of captions and of awkward sentences', () => {
    expect(given.sentences.map(tokenize)).toEqual(golden.tokens);
    expect(segments.map(({ candidate }) => candidate)).toEqual(golden.candidate_tokens);
  });
});

describe('laws', () => {
  const word = fc.constantFrom('the', 'a', 'car', 'cars', 'red', 'van', 'left', 'has', 'gone', 'parked', 'parking');
  const sentence = fc.array(word, { minLength: 4, maxLength: 12 });
  const corpus = fc.array(
    fc.record({ candidate: sentence, references: fc.array(sentence, { minLength: 1, maxLength: 3 }) }),
    {
      minLength: 2,
      maxLength: 6,
    },
  );

  it('every metric is bounded', () => {
    fc.assert(
      fc.property(corpus, (some) => {
        for (const value of [...bleu(some), rougeL(some)]) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1 + 1e-6);
        }
        expect(ciderD(some)).toBeGreaterThanOrEqual(0);
        expect(ciderD(some)).toBeLessThanOrEqual(10 + 1e-9);
      }),
      { numRuns: 60 },
    );
  });

  it('a caption equal to its only reference scores 1, and CIDEr-D 10 if no other document has its n-grams', () => {
    const alone = ['red van by gate', 'blue bus near stairs'].map((text) => text.split(' '));
    const some = alone.map((words) => ({ candidate: words, references: [words] }));
    expect(ciderD(some)).toBeCloseTo(10, 12);
    fc.assert(
      fc.property(sentence, (words) => {
        const same = [{ candidate: words, references: [words] }];
        expect(bleu(same)[3]).toBeCloseTo(1, 6);
        expect(rougeL(same)).toBeCloseTo(1, 12);
      }),
      { numRuns: 60 },
    );
  });

  it('the order of the references does not matter', () => {
    fc.assert(
      fc.property(corpus, (some) => {
        const turned = some.map(({ candidate, references }) => ({
          candidate,
          references: [...references].reverse(),
        }));
        expect(ciderD(turned)).toBeCloseTo(ciderD(some), 9);
        expect(bleu(turned)[1]).toBeCloseTo(bleu(some)[1], 9);
        expect(rougeL(turned)).toBeCloseTo(rougeL(some), 9);
      }),
      { numRuns: 60 },
    );
  });

  it('the longest common subsequence is symmetric and no longer than either', () => {
    fc.assert(
      fc.property(sentence, sentence, (a, b) => {
        const length = longestCommonSubsequence(a, b);
        expect(length).toBe(longestCommonSubsequence(b, a));
        expect(length).toBeLessThanOrEqual(Math.min(a.length, b.length));
        expect(longestCommonSubsequence(a, [...a.slice(0, 2), ...b])).toBeGreaterThanOrEqual(2);
      }),
    );
  });

  it('an n-gram of every document has no weight', () => {
    const some = ['the van', 'the bus'].map((text) => ({
      candidate: ['the'],
      references: [text.split(' ')],
    }));
    expect(ciderD(some)).toBe(0);
    const wider = documentFrequencies([...some.map(({ references }) => references), [['no', 'change']]]);
    expect(ciderD(some, wider)).toBeGreaterThan(0);
  });
});

describe('borderline captions', () => {
  it('an empty caption scores 0', () => {
    const some = [{ candidate: [], references: [['a', 'van']] }];
    expect(bleu(some)[0]).toBeLessThan(1e-6);
    expect([rougeL(some), ciderD(some)]).toEqual([0, 0]);
  });

  it('punctuation has no tokens', () => {
    expect(tokenize(' ... -- ?! ;')).toEqual([]);
  });
});
