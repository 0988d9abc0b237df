/** The truth check of the clauses of a sentence. */
import { textOf } from '../../src/language/write.js';
import type { CheckOutput } from '../../src/model/graph-io.js';
import { type BundleManifest, loadBundle } from '../../src/model/manifest.js';
import type { MapRegion } from '../../src/model/regions.js';
import type { Description, LocationStatement } from '../../src/pipeline/location-statement.js';
import { composeChecked } from '../../src/pipeline/truth-check.js';
import { TINY, tinyCheck } from '../model/tiny-bundle.js';
import { JUDGE } from './judges.js';
import { located } from './located.js';

let manifest: BundleManifest;
beforeAll(async () => {
  manifest = { ...(await loadBundle(TINY)).manifest, check: await tinyCheck(), judge: JUDGE };
});

const region = (x: number): MapRegion => ({
  ...{ side: 'after', area: 0.01, score: 0.8 },
  box: { x, y: 0.1, width: 0.1, height: 0.1 },
});
const regions = [region(0.1), region(0.8)];
const crops = regions.map((region) => ({ regions: [region] }));
const states = (text: string, at: number): LocationStatement => {
  const one = located(text, { regions: [regions[at] as MapRegion], score: 0.9 });
  const { noun, colour } = one.statement.things[0] as (typeof one.statement.things)[0];
  const likely = (value: string) => ({ value, probability: 0.9 });
  const fact = { kind: likely('appear'), noun: likely(noun), colour: likely(`${colour}`), place: likely(`${at}`) };
  return { ...one, fact: fact as unknown as LocationStatement['fact'] };
};
const RED = states('a red thing has appeared on the left', 0);
const BLUE = states('a blue thing has appeared on the right', 1);
const description: Description = { joint: null, crops: [], statements: [RED, BLUE] };
const KIND = { name: 'appear', score: 0.7 };
/** Logit -2 of what happened for a sentence with one of these words, 2 for the others. */
const doubting =
  (...doubted: string[]) =>
  async (_crops: readonly unknown[], sentences: readonly (readonly string[])[]): Promise<CheckOutput[]> =>
    sentences.map((words) => {
      const logit = words.some((word) => doubted.includes(word)) ? -2 : 2;
      return { score: logit, slots: Float32Array.of(logit, 2, 2, 2, 2) };
    });
const compose = (run: ReturnType<typeof doubting>, used = manifest) =>
  composeChecked(description, KIND, { crops, regions }, used, run);

it('gives each clause its probability, and leaves none out', async () => {
  const { captioned, check } = await compose(doubting('red'));
  expect(captioned.sentence.text).toBe(`${textOf(RED.words)}, and ${textOf(BLUE.words)}`);
  expect(check?.clauses.map(({ text, regions: ids }) => [text, ids])).toEqual([
    [textOf(RED.words), [1]],
    [textOf(BLUE.words), [2]],
  ]);
  const [red, blue] = check?.clauses.map(({ p }) => p) ?? [];
  expect(red).toBeLessThan(0.5);
  expect(blue).toBeGreaterThan(0.5);
  expect(check?.score).toBe(red);
});

it('composes the same sentence for a bundle without a check', async () => {
  const { check: _none, ...without } = manifest;
  const run = async () => {
    throw new Error('is not called');
  };
  const { captioned, check } = await compose(run, without);
  expect(captioned.sentence.text).toBe(`${textOf(RED.words)}, and ${textOf(BLUE.words)}`);
  expect(check).toBeUndefined();
});
