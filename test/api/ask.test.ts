import { ScenedeltaError } from '../../src/base/errors.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { fakeApp } from '../helpers/fake-app.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  fake = await fakeApp();
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

const FRAME = { from: 'stored', sha256: 'c'.repeat(64), bytes: 1, contentType: 'image/jpeg' } as const;
const FACTS = { action: 0.91234, noun: 0.9, colour: null, place: null, count: 0.9 };

async function compared({ end = true, frames = true, finding = {} } = {}): Promise<string> {
  const accepted = acceptedComparison({ before: FRAME, after: FRAME });
  const stored = frames ? accepted : { ...accepted, frames: { before: null, after: null } };
  await fake.results.create(stored);
  const { id } = stored.comparison;
  if (end) await fake.results.update(id, { comparison: finished(stored.comparison, finding) });
  return id;
}
const ask = (id: string, body: unknown) =>
  fake.inject({ method: 'POST', url: `/v1/comparisons/${id}/ask`, payload: body as object });

describe('POST /v1/comparisons/{id}/ask', () => {
  it('answers with the probability that a worker gives', async () => {
    const id = await compared();
    const sentence = 'a blue zebra has left';
    const answer = { sentence, p: 0.123456, read_as: 'a blue has left', unknown_words: ['zebra'], facts: FACTS };
    fake.questions.answer = answer;
    const response = await ask(id, { sentence });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({ ...answer, p: 0.123, facts: { ...FACTS, action: 0.912 }, by_facts: null });
    expect(fake.questions.asked).toEqual([{ kind: 'ask', comparison: id, sentence }]);
  });

  it('adds the probability by the facts of the comparison, if they can judge the sentence', async () => {
    const region = { id: 1, side: 'after', box: { x: 0, y: 0, width: 1, height: 1 }, area: 1, score: 1 };
    const fact = {
      ...{ kind: { value: 'appear', probability: 0.9 }, nouns: [{ value: 'van', probability: 0.8 }], colours: [] },
      ...{ class: { value: 'vehicle', probability: 0.9 }, regions: [1] },
    };
    const id = await compared({ finding: { verdict: 'change', regions: [region], facts: [fact] } });
    const byFacts = async (sentence: string) => {
      fake.questions.answer = { sentence, p: 0.5, read_as: sentence, unknown_words: [], facts: FACTS };
      return (await ask(id, { sentence })).json().by_facts;
    };
    expect(await byFacts('a vehicle has appeared')).toBe(0.72);
    expect(await byFacts('a person has appeared')).toBe(0);
    expect(await byFacts('a vehicle has appeared on the left')).toBeNull();
  });

  it.each([[''], ['x'.repeat(10_000)], [7], [undefined]])('refuses the sentence %.20j', async (sentence) => {
    const response = await ask(await compared(), { sentence });
    expect([response.statusCode, response.json().type]).toEqual([400, expect.stringContaining('invalid-request')]);
    expect(fake.questions.asked).toEqual([]);
  });

  it.each([
    [404, 'not-found', 'cmp_01k9x3v5s8q2m7c4w6n1b0t9hz', {}],
    [409, 'not-finished', null, { end: false }],
    [404, 'not-found', null, { frames: false }],
  ])('answers %d %s', async (status, code, id, given) => {
    const response = await ask(id ?? (await compared(given)), { sentence: 'a car has left' });
    expect([response.statusCode, response.json().type]).toEqual([status, expect.stringContaining(code)]);
  });

  it.each([
    [503, new ScenedeltaError('overloaded', 'No worker answered within 5 s')],
    [410, new ScenedeltaError('gone', 'before: the frame is no longer stored', { field: 'before' })],
    [422, new ScenedeltaError('invalid-value', 'the model knows no word of the sentence', { field: 'sentence' })],
  ])('passes on the problem of the worker: %d', async (status, error) => {
    fake.questions.answer = error;
    const response = await ask(await compared(), { sentence: '火 🚗' });
    expect([response.statusCode, response.json()]).toMatchObject([status, { detail: error.message }]);
  });
});
