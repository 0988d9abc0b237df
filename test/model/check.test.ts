/** The truth check: words to ids, and runs of the hand-made graph of make-tiny-check.py. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Captioner, type Graphs } from '../../src/model/captioner.js';
import type { CheckManifest } from '../../src/model/check-schema.js';
import { encodeSentences, readSentence } from '../../src/model/check-words.js';
import type { CheckInput } from '../../src/model/graph-io.js';
import { type Bundle, loadBundle } from '../../src/model/manifest.js';
import { openGraph } from '../../src/model/session.js';
import { addCheck, copyOfTiny } from './tiny-bundle.js';

let modelsDir: string;
let bundle: Bundle;
let graphs: Graphs;
beforeAll(async () => {
  const copy = await copyOfTiny(addCheck);
  modelsDir = copy.modelsDir;
  bundle = await loadBundle(copy.directory);
  const open = (name: string) => openGraph(join(copy.directory, `${name}.onnx`), 'cpu');
  graphs = {
    features: await open('features'),
    difference: await open('difference'),
    caption: await open('caption'),
    check: await open('check'),
  };
});
afterAll(async () => {
  for (const graph of Object.values(graphs)) await graph.release();
  await rm(modelsDir, { recursive: true });
});

const WORDS: Pick<CheckManifest, 'vocabulary' | 'special' | 'max_length'> = {
  vocabulary: ['<pad>', '<unk>', '<end>', 'a', 'car', 'has', 'left'],
  special: { pad: 0, unk: 1, end: 2 },
  max_length: 5,
};

describe('readSentence', () => {
  it('reads words whatever their case and punctuation', () => {
    expect(readSentence('  A CAR has—left! ', WORDS)).toEqual({ words: ['a', 'car', 'has', 'left'], unknown: [] });
  });

  it('returns each unknown word once, in any language', () => {
    expect(readSentence('ein Wagen, a Wagen 🚗', WORDS)).toEqual({ words: ['a'], unknown: ['ein', 'wagen', '🚗'] });
  });

  it('reads no word that is an id of the format', () => {
    expect(readSentence('<end> a', WORDS)).toEqual({ words: ['a'], unknown: ['<end>'] });
  });

  it('reads nothing from an empty text, and no more words than a sentence may have', () => {
    expect(readSentence(' .. ', WORDS)).toEqual({ words: [], unknown: [] });
    expect(readSentence('car '.repeat(2_500), WORDS).words).toEqual(['car', 'car', 'car', 'car']);
  });
});

describe('encodeSentences', () => {
  it('ends each sentence and pads it to the longest', () => {
    const { data, dims } = encodeSentences(
      [
        [
          ['a', 'car'],
          ['a', 'tram', 'has'],
        ],
        [[]],
      ],
      WORDS,
      2,
      2,
      false,
    );
    expect(dims).toEqual([2, 2, 4]);
    expect([...data].map(Number)).toEqual([3, 4, 2, 0, 3, 1, 5, 2, 2, 0, 0, 0, 0, 0, 0, 0]);
  });

  it('cuts a sentence that is too long', () => {
    const { data } = encodeSentences([[['a', 'car', 'has', 'left', 'a', 'car']]], WORDS, 1, 1, true);
    expect([...data].map(Number)).toEqual([3, 4, 5, 6, 2]);
  });
});

describe('Captioner.check', () => {
  const box = { x: 0, y: 0, width: 1, height: 1 };
  const features = (level: number) => ({
    coarse: new Float32Array(3 * 9).fill(level),
    fine: new Float32Array(3 * 36).fill(level),
  });
  const map = { width: 12, height: 8, data: new Float32Array(96) };
  /** A crop that became brighter. */
  const brighter: CheckInput = {
    memory: new Float32Array(48),
    kindLogits: new Float32Array(6),
    crops: [{ before: features(0.2), after: features(0.8), crop: box, object: box }],
    before: map,
    after: map,
    sentences: [
      ['a', 'white', 'thing', 'has', 'appeared'],
      ['the', 'thing', 'is', 'gone'],
    ],
  };

  it('scores every sentence of a pair in one run', async () => {
    const model = new Captioner(bundle, graphs, null);
    const [[appeared, gone] = []] = await model.check([brighter]);
    expect([appeared?.score, gone?.score]).toEqual([3, -3]);
    expect([...(appeared?.slots ?? [])]).toEqual([3, 2, 2, 2, 2]);
    expect([...(gone?.slots ?? [])]).toEqual([-3, 2, -2, 2, 2]);
  });

  it('scores a sentence alike alone and beside longer ones', async () => {
    const model = new Captioner(bundle, graphs, null);
    const [[, beside] = []] = await model.check([brighter]);
    const [[alone] = []] = await model.check([{ ...brighter, sentences: brighter.sentences.slice(1) }]);
    expect(alone).toEqual(beside);
  });

  it.each([null, [1, 2]])('scores each of several pairs as if it were alone (batches of %j)', async (sizes) => {
    const darker = {
      ...brighter,
      crops: brighter.crops.map((crop) => ({ ...crop, before: crop.after, after: crop.before })),
    };
    const pairs = [brighter, { ...darker, sentences: brighter.sentences.slice(0, 1) }, darker];
    const [first, second, third] = await new Captioner(bundle, graphs, sizes).check(pairs);
    expect([first, second, third].map((one) => one?.map(({ score }) => score))).toEqual([[3, -3], [-3], [-3, 3]]);
  });

  it('sees only the given crops', async () => {
    const [[appeared] = []] = await new Captioner(bundle, graphs, null).check([{ ...brighter, crops: [] }]);
    expect(appeared?.score).toBe(-3);
  });

  it('warms the graph up', async () => {
    let runs = 0;
    const check = graphs.check as NonNullable<Graphs['check']>;
    const counted: typeof check = {
      ...check,
      run: (feeds) => {
        runs++;
        return check.run(feeds);
      },
    };
    await new Captioner(bundle, { ...graphs, check: counted }, null).warmUpWords();
    expect(runs).toBe(1);
  });

  it('refuses a bundle without a check, and a graph with other outputs', async () => {
    const { check, ...others } = graphs;
    await expect(new Captioner(bundle, others, null).check([brighter])).rejects.toThrow('has no graph check');
    const bare = { ...(check as NonNullable<typeof check>), outputs: [] };
    expect(() => new Captioner(bundle, { ...others, check: bare }, null)).toThrow(
      /check\.onnx: has the outputs ; expected score, slots/,
    );
    const inputs = (check?.inputs ?? []).map((one) => (one.name === 'ids' ? { ...one, shape: ['K', 'L'] } : one));
    const ofOnePair = { ...(check as NonNullable<typeof check>), inputs };
    expect(() => new Captioner(bundle, { ...others, check: ofOnePair }, null)).toThrow(
      /ids has 2 axes, expected 3: write the graph anew by python -m training\.bundle check/,
    );
  });
});
