/** Clauses that the truth check doubts are left out of the sentence. */
import { textOf } from '../../src/language/write.js';
import type { CheckOutput } from '../../src/model/graph-io.js';
import { type BundleManifest, loadBundle } from '../../src/model/manifest.js';
import type { MapRegion } from '../../src/model/regions.js';
import { composeChecked } from '../../src/pipeline/checked-sentence.js';
import type { Description, LocationStatement } from '../../src/pipeline/location-statement.js';
import { TINY, tinyCheck } from '../model/tiny-bundle.js';
import { located } from './located.js';

let manifest: BundleManifest;
beforeAll(async () => {
  manifest = { ...(await loadBundle(TINY)).manifest, check: await tinyCheck() };
});

const region = (x: number): MapRegion => ({
  ...{ side: 'after', area: 0.01, score: 0.8 },
  box: { x, y: 0.1, width: 0.1, height: 0.1 },
});
const regions = [region(0.1), region(0.8)];
const crops = regions.map((region) => ({ regions: [region] }));
const states = (text: string, at: number): LocationStatement =>
  located(text, { at: [at], regions: [regions[at] as MapRegion], score: 0.9 });
const RED = states('a red thing has appeared on the left', 0);
const BLUE = states('a blue thing has appeared on the right', 1);
const joint = {
  ...{ ids: new BigInt64Array(), logProbabilities: new Float32Array(), length: 0, attention: [], kindLogits: null },
};
const description: Description = { joint, crops: [], statements: [RED, BLUE], ends: [] };
const KIND = { name: 'appear', score: 0.7 };
/** Logit -2 of what happened for a sentence with one of these words, 2 for the others. */
const doubting =
  (...doubted: string[]) =>
  async (_crops: readonly unknown[], sentences: readonly (readonly string[])[]): Promise<CheckOutput[]> =>
    sentences.map((words) => {
      const logit = words.some((word) => doubted.includes(word)) ? -2 : 2;
      return { score: logit, slots: Float32Array.of(logit, 2, 2, 2, 2) };
    });
const compose = (run: ReturnType<typeof doubting>, used = manifest, described = description) =>
  composeChecked(described, KIND, { crops, regions }, used, 0.9, run);
const low = 1 / (1 + Math.exp(2));

it('keeps the clauses whose action is probable', async () => {
  const { captioned, check } = await compose(doubting());
  expect(captioned.sentence.text).toBe(`${textOf(RED.words)}, and ${textOf(BLUE.words)}`);
  expect(check?.clauses.map(({ text, regions: ids }) => [text, ids])).toEqual([
    [textOf(RED.words), [1]],
    [textOf(BLUE.words), [2]],
  ]);
  expect(check?.weakened).toEqual([]);
});

it('leaves out a clause whose action is doubted, the strongest too, and lists it', async () => {
  const { captioned, check } = await compose(doubting('red'));
  expect(captioned.sentence.text).toBe(textOf(BLUE.words));
  expect(check?.clauses.map(({ text }) => text)).toEqual([textOf(BLUE.words)]);
  expect(check?.weakened).toEqual([{ text: textOf(RED.words), slot: 'action', p: expect.closeTo(low), regions: [1] }]);
});

it('keeps a doubted clause about a being that the names recognised', async () => {
  const statements = description.statements.map((one) =>
    one === RED ? { ...one, recognised: 'person' as const } : one,
  );
  const { captioned, check } = await compose(doubting('red', 'blue'), manifest, { ...description, statements });
  expect(captioned.sentence.text).toBe(textOf(RED.words));
  expect(check?.weakened.map(({ text }) => text)).toEqual([textOf(BLUE.words)]);
});

it('says without a kind that something has changed if every clause is doubted', async () => {
  const { captioned, check } = await compose(doubting('red', 'blue'));
  expect(captioned.sentence.text).toBe('something has changed on the left');
  expect(captioned.kind).toEqual(KIND);
  expect(check?.clauses.map(({ text, regions: ids }) => [text, ids])).toEqual([
    ['something has changed on the left', [1]],
  ]);
  expect(check?.weakened).toHaveLength(2);
});

it.each([
  ['the truck on the left has changed', ['truck']],
  ['the truck on the left has changed', ['truck', 'truck']],
  ['something has changed on the left', ['truck', 'car']],
  ['something has changed on the left', ['something']],
])('says "%s" of doubted clauses about %j', async (sentence, nouns) => {
  const facts = nouns.map((value) => ({ noun: { value, probability: 0.9 } }) as LocationStatement['facts'][number]);
  const statements = [{ ...RED, facts }, BLUE];
  const { captioned, check } = await compose(doubting('red', 'blue'), manifest, { ...description, statements });
  expect(captioned.sentence.text).toBe(sentence);
  expect(captioned.kind).toEqual(KIND);
  expect(check?.clauses.map(({ text, regions: ids }) => [text, ids])).toEqual([[sentence, [1]]]);
});

it('composes the same sentence as before for a bundle without a check', async () => {
  const { check: _none, ...without } = manifest;
  const run = async () => {
    throw new Error('is not called');
  };
  const { captioned, check } = await compose(run, without);
  expect(captioned.sentence.text).toBe(`${textOf(RED.words)}, and ${textOf(BLUE.words)}`);
  expect(check).toBeUndefined();
});
