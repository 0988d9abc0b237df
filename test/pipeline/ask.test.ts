/** Questions to the hand-made bundle with its truth check (make-tiny-check.py), by its formulas. */
import { join } from 'node:path';
import { loadBundle } from '../../src/model/manifest.js';
import { readQuestion } from '../../src/pipeline/ask.js';
import type { Pipeline } from '../../src/pipeline/compare.js';
import { addCheck, copyOfTiny } from '../model/tiny-bundle.js';
import { tinySearch } from '../model/tiny-search.js';
import { image, RED, removeLater, startTiny, WHITE } from './tiny-pipeline.js';

let pipeline: Pipeline;
let without: Pipeline;
beforeAll(async () => {
  const { modelsDir } = removeLater(await copyOfTiny(addCheck));
  pipeline = await startTiny({ modelsDir });
  without = await startTiny({});
});
afterAll(() => Promise.all([pipeline?.close(), without?.close()]));

const pair = async () => ({ before: await image(), after: await image([WHITE]) });
const odds = (x: number) => 1 / (1 + Math.exp(-x));

describe('Pipeline.ask', () => {
  it('answers how probable a sentence is of a pair', async () => {
    const right = await pipeline.ask(await pair(), 'A white thing has appeared!');
    expect(right).toMatchObject({ sentence: 'A white thing has appeared!', read_as: 'a white thing has appeared' });
    expect(right.p).toBeCloseTo(odds(3));
    const wrong = await pipeline.ask(await pair(), 'the white thing is gone');
    expect(wrong.p).toBeLessThan(0.5);
  });

  it('names the words that the check does not know', async () => {
    const answer = await pipeline.ask(await pair(), 'a white zebra has appeared 🦓');
    expect(answer.unknown_words).toContain('zebra');
    expect(answer.read_as).not.toContain('zebra');
  });

  it('reads synonyms that the bundle lists as the nouns of the check', async () => {
    const { modelsDir } = removeLater(await copyOfTiny(addCheck));
    const tiny = await loadBundle(join(modelsDir, 'bundle-tiny'));
    const { search } = await tinySearch();
    const manifest = { ...tiny.manifest, search: { ...search, synonyms: { gizmo: 'thing' } } };
    expect(readQuestion('A Gizmo has appeared', manifest)).toMatchObject({
      words: ['a', 'thing', 'has', 'appeared'],
      unknown: [],
    });
  });

  it('answers about unchanged pairs, and without the graph about equal pixels', async () => {
    const same = await image([RED]);
    const unchanged = { before: same, after: same };
    expect((await pipeline.ask(unchanged, 'a white thing has appeared')).p).toBe(0);
    expect((await pipeline.ask(unchanged, 'nothing has changed')).p).toBe(1);
  });

  it.each([['何も'], ['🚗🚗'], ['!?'], ['zebra '.repeat(2_000)]])(
    'refuses %.12j, without any known word',
    async (text) => {
      await expect(pipeline.ask(await pair(), text)).rejects.toMatchObject({
        code: 'invalid-value',
        field: 'sentence',
      });
    },
  );

  it('refuses if the bundle has no truth check', async () => {
    await expect(without.ask(await pair(), 'a thing has appeared')).rejects.toThrow('has no truth check');
  });
});
