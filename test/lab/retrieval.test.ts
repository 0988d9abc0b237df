/** Recall of searches, by hand; and pairs that words and vectors find. */

import type { Prediction } from '../../lab/figures/predictions.js';
import { rankOf, retrievalFigures } from '../../lab/figures/retrieval.js';
import { findPairs } from '../../lab/run/find-pairs.js';
import { pairOf } from './labels.js';

describe('rankOf', () => {
  const scores = new Map([
    ['a', 0.9],
    ['b', 0.5],
    ['c', 0.5],
    ['d', 0.1],
  ]);

  it('counts better pairs, and half of the equal ones', () => {
    expect(['a', 'b', 'd'].map((id) => rankOf(scores, id, 10))).toEqual([1, 2.5, 4]);
  });

  it('places a pair that was not found in the middle of those that were not', () => {
    expect(rankOf(scores, 'z', 10)).toBe(4 + (1 + 6) / 2);
    expect(rankOf(new Map(), 'z', 3)).toBe(2);
  });
});

it('retrievalFigures gives recall per rank, and that of chance', () => {
  const figures = retrievalFigures(20, { words: [1, 2.5, 11, 5] });
  expect(figures).toMatchObject({ queries: 4, gallery: 20, chance: [0.05, 0.25, 0.5] });
  expect(figures.rows[0]?.recall.map(({ hits, of }) => [hits, of])).toEqual([
    [1, 4],
    [3, 4],
    [3, 4],
  ]);
});

describe('findPairs', () => {
  const labelled = { verdict: 'change', kind: 'appear' };
  const pairs = [
    pairOf({ id: 'van', references: ['a white van has appeared'], ...labelled }),
    pairOf({ id: 'person', references: ['a person has appeared'], ...labelled }),
    pairOf({ id: 'same', references: ['nothing has changed'], verdict: 'none', kind: 'none' }),
  ];
  const said = (id: string, caption: string, verdict: Prediction['verdict'] = 'change'): Prediction => ({
    ...{ id, verdict, caption, confidence: 0.9, regions: [], peak_before: null, peak_after: null, timings_ms: {} },
    kind: verdict === 'change' ? 'appear' : 'none',
  });
  const predictions = [
    said('van', 'a van has appeared'),
    said('person', 'a horse has appeared'),
    said('same', 'nothing has changed', 'none'),
  ];
  const hits = (figures: Awaited<ReturnType<typeof findPairs>>) =>
    Object.fromEntries(figures?.rows.map(({ name, recall: [first] }) => [name, first?.hits]) ?? []);

  it('searches the answers by what people wrote', async () => {
    const figures = await findPairs(pairs, predictions, null);
    expect(figures).toMatchObject({ queries: 2, gallery: 3 });
    // Nothing but the direction of "a horse has appeared" answers "a person".
    expect(hits(figures)).toEqual({ words: 1 });
  });

  it('also searches by vectors, and by both', async () => {
    const [right, up] = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
    const embed = async (texts: readonly string[]) => texts.map((text) => (text.includes('van') ? right : up));
    const vectors = { bundle: 'b', pairs: [right, up, null], embed, least: 0.5 };
    expect(hits(await findPairs(pairs, predictions, vectors))).toEqual({ words: 1, vectors: 2, both: 2 });
  });

  it('gives no figures without a changed pair', async () => {
    expect(await findPairs(pairs.slice(2), predictions.slice(2), null)).toBeNull();
  });
});
