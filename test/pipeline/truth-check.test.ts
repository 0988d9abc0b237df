import type { CheckOutput } from '../../src/model/graph-io.js';
import type { BundleManifest } from '../../src/model/manifest.js';
import type { MapRegion } from '../../src/model/regions.js';
import { judge, judgeClauses, type RunCheck } from '../../src/pipeline/truth-check.js';
import { keepClauses } from '../../src/schemas/finding.js';

const level = { scale: 1, offset: 0, threshold: 0.3 };
const check: NonNullable<BundleManifest['check']> = {
  vocabulary: '<pad> <unk> <end> a the red car cars two something has have left nothing changed on'.split(' '),
  special: { pad: 0, unk: 1, end: 2 },
  max_length: 12,
  slots: ['action', 'noun', 'colour', 'place', 'count'],
  temperature: 1,
  sentence: { scale: 2, offset: 1 },
  calibration: { action: level, noun: { ...level, offset: 1 }, colour: level, place: level, count: level },
  margin: null,
  reranked: {},
  metrics: {},
  seed: 1,
  command: 'none',
  cost: 'none',
};
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const output = (score: number, slots = [0, 0, 0, 0, 0]): CheckOutput => ({ score, slots: Float32Array.from(slots) });

describe('judge', () => {
  const stated = (text: string) =>
    Object.entries(judge(text.split(' '), output(0), check).facts).flatMap(([slot, p]) => (p === null ? [] : [slot]));

  it('calibrates the score and every stated part', () => {
    const { p, facts } = judge('a red car on the left has left'.split(' '), output(0.5, [1, 2, -1, 0, 3]), check);
    expect(p).toBeCloseTo(sigmoid(2));
    expect(facts.action).toBeCloseTo(sigmoid(1));
    expect(facts.noun).toBeCloseTo(sigmoid(3));
    expect(facts.colour).toBeCloseTo(sigmoid(-1));
    expect(facts.place).toBeCloseTo(0.5);
    expect(facts.count).toBeCloseTo(sigmoid(3));
  });

  it.each([
    ['a car has left', ['action', 'noun', 'count']],
    ['a red car has left', ['action', 'noun', 'colour', 'count']],
    ['something has left', ['action']],
    ['something on the left has left', ['action', 'place']],
    ['two cars have left', ['action', 'noun', 'count']],
    ['nothing has changed', ['action']],
  ])('%s: has probabilities of what it states alone', (text, slots) => {
    expect(stated(text)).toEqual(slots);
  });
});

describe('judgeClauses', () => {
  const region = (side: MapRegion['side']): MapRegion => ({
    ...{ side, area: 0.01, score: 0.8 },
    box: { x: 0.1, y: 0.1, width: 0.1, height: 0.1 },
  });
  const regions = [region('after'), region('before'), region('after')];
  const crops = regions.map((region) => ({ regions: [region] }));
  const [first, second, third] = crops as [(typeof crops)[0], (typeof crops)[0], (typeof crops)[0]];
  const clause = (text: string, ...indices: number[]) => ({
    text,
    regions: indices.map((i) => regions[i] as MapRegion),
  });
  /** A check that scores a sentence by its number of words, and the runs of its graph. */
  const recorded = () => {
    const runs: { crops: readonly (typeof first)[]; texts: string[] }[] = [];
    const run: RunCheck<typeof first> = async (seen, sentences) => {
      runs.push({ crops: seen, texts: sentences.map((words) => words.join(' ')) });
      return sentences.map((words) => output(-words.length));
    };
    const judgeAll = (...clauses: ReturnType<typeof clause>[]) => judgeClauses(clauses, crops, 2, check, run);
    return { judgeAll, runs };
  };

  it('judges the clauses about the strongest crops in one run', async () => {
    const { judgeAll, runs } = recorded();
    const found = await judgeAll(clause('a car has left', 1), clause('two red cars have left', 0));
    expect(runs).toEqual([{ crops: [first, second], texts: ['a car has left', 'two red cars have left'] }]);
    expect(found.map(({ p }) => p)).toEqual([sigmoid(2 * -4 + 1), sigmoid(2 * -5 + 1)]);
  });

  it('shows the crop of a clause that is none of the strongest', async () => {
    const { judgeAll, runs } = recorded();
    const found = await judgeAll(clause('a red car has left', 2), clause('the car has left', 0));
    expect(runs.map(({ crops: seen }) => seen)).toEqual([
      [third, first],
      [first, second],
    ]);
    expect(found.map(({ p }) => p)).toEqual([sigmoid(2 * -5 + 1), sigmoid(2 * -4 + 1)]);
  });

  it('leaves out words that the check does not read', async () => {
    const { judgeAll, runs } = recorded();
    await judgeAll(clause('a car, one red, has left', 0));
    expect(runs[0]?.texts).toEqual(['a car red has left']);
  });

  it('runs nothing without clauses', async () => {
    const { judgeAll, runs } = recorded();
    expect(await judgeAll()).toEqual([]);
    expect(runs).toEqual([]);
  });
});

describe('keepClauses', () => {
  const facts = { action: 0.9, noun: null, colour: null, place: null, count: null };
  const found = {
    score: 0.4,
    clauses: [
      { text: 'a car has left', p: 0.4, facts, regions: [1] },
      { text: 'a car has appeared', p: 0.7, facts, regions: [2, 3] },
    ],
  };

  it('keeps clauses whose regions all remain, under their new ids', () => {
    expect(keepClauses(found, (id) => id - 1)).toEqual({
      score: 0.7,
      clauses: [{ ...found.clauses[1], regions: [1, 2] }],
    });
    expect(keepClauses(found, (id) => (id === 3 ? 0 : id)).clauses).toEqual([found.clauses[0]]);
  });

  it('has no score if none remains', () => {
    expect(keepClauses(found, () => 0)).toEqual({ score: null, clauses: [] });
  });
});
