import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BundleError } from '../../src/model/bundle.js';
import { bundleSha256, loadBundle } from '../../src/model/manifest.js';
import { addCheck, copyOfTiny, put, sha256, TINY } from './tiny-bundle.js';

const lensOf = (...trees: unknown[][]) => ({
  trees,
  offset: 0,
  beside: { weights: { region: 1, others: 0 }, offset: 0 },
});

describe('loadBundle', () => {
  it('accepts a bundle that keeps the contract, and hashes its list of files', async () => {
    const bundle = await loadBundle(TINY);
    const files = bundle.manifest.files;
    const lines = ['caption.onnx', 'difference.onnx', 'features.onnx'].map((file) => `${file} ${files[file]}\n`);
    expect(bundle.manifest.name).toBe('bundle-tiny');
    expect(bundle.sha256).toBe(sha256(lines.join('')));
  });

  it('accepts a bundle with a truth check', async () => {
    const { modelsDir, directory } = await copyOfTiny(addCheck);
    const { manifest } = await loadBundle(directory);
    await rm(modelsDir, { recursive: true });
    expect(manifest.check?.slots).toEqual(['action', 'noun', 'colour', 'place', 'count']);
  });

  it('hashes files in any order to the same value', () => {
    const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];
    expect(bundleSha256({ 'x.onnx': a, 'y.onnx': b })).toBe(bundleSha256({ 'y.onnx': b, 'x.onnx': a }));
  });
});

describe('loadBundle refuses', () => {
  const folders: string[] = [];
  afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

  async function refusal(prepare: (directory: string) => Promise<void>, edit = () => {}): Promise<string> {
    const { modelsDir, directory } = await copyOfTiny(edit);
    folders.push(modelsDir);
    await prepare(directory);
    const error = await loadBundle(directory).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BundleError);
    const { message } = error as BundleError;
    expect(message).not.toContain('\n');
    return message.replace(`${directory}/`, '');
  }

  it.each<[string, string, unknown, string]>([
    ['an unknown key', 'colour', 1, 'manifest.json: the manifest has the unknown key "colour"'],
    ['an unknown nested key', 'glance.zoom', 2, 'manifest.json: /glance has the unknown key "zoom"'],
    ['a missing key', 'calibration', undefined, 'manifest.json: the manifest lacks the key "calibration"'],
    ['a missing nested key', 'input.mean', undefined, 'manifest.json: /input lacks the key "mean"'],
    ['another format', 'format', 'scenedelta-bundle/2', 'manifest.json: /format must be equal to constant'],
    ['an input that is no multiple of 16', 'input.width', 100, 'manifest.json: /input/width must be multiple of 16'],
    ['another resampler', 'input.resize', 'bicubic', 'manifest.json: /input/resize must be equal to constant'],
    ['a deviation of zero', 'input.std', [1, 0, 1], 'manifest.json: /input/std/1 must be > 0'],
    [
      'a file outside its folder',
      'files',
      { '../features.onnx': 'a'.repeat(64) },
      'manifest.json: /files has the unknown key "../features.onnx"',
    ],
    ['a threshold above 1', 'calibration.threshold', 1.5, 'manifest.json: /calibration/threshold must be <= 1'],
    ['a scale that reverses the order', 'calibration.change.scale', -1, 'manifest.json: /calibration/change/scale'],
    [
      'a special id outside the vocabulary',
      'special.end',
      999,
      'manifest.json: /special/end is 999, but the vocabulary has',
    ],
    ['one id for two purposes', 'special.end', 0, 'manifest.json: /special uses one id for two purposes'],
    [
      'a graph in an unlisted file',
      'graphs.caption.file',
      'words.onnx',
      '/graphs/caption/file is words.onnx, which /files does not list',
    ],
    ['region crops without their attention', 'attention.glance', null, '/glance is set but /attention/glance is null'],
    [
      'another attention than the crops have cells',
      'attention.glance',
      [7, 7],
      '/attention/glance is 7 x 7, expected 3 x 3 for crops of 48 px',
    ],
    [
      'the people without their graph',
      'people',
      { size: 256, margin: 2, min_side: 0, least: 0.3 },
      '/people and /graphs/people: one is set alone',
    ],
    [
      'names without their graph',
      'names',
      { nouns: ['nothing', 'car'], wider: {}, colours: ['red'], plural: {} },
      '/names and /graphs/names: one is set alone',
    ],
    ['the lens without names', 'lens', lensOf([0.5]), '/lens is set but /names is not'],
    ['a tree that goes back', 'lens', lensOf([['size', 0, 1, 2], 1, ['size', 1, 1, 1]]), '/lens/trees/0 has a node'],
    ['a tree without its leaf', 'lens', lensOf([['size', 0, 1, 2], 1]), '/lens/trees/0 has a node whose followers'],
    ['a tree of another column', 'lens', lensOf([['weight', 0, 1, 2], 1, 1]), 'manifest.json: /lens/trees/0/0'],
    ['kinds that do not start with none', 'kinds', ['appear', 'none'], '/kinds starts with appear, expected "none"'],
    [
      'a nuisance without a threshold',
      'nuisances',
      ['lighting', 'rain'],
      '/calibration/nuisances lacks the key "rain"',
    ],
    ['a threshold without a nuisance', 'nuisances', ['lighting'], '/calibration/nuisances has "ir_switch"'],
    ['a word twice', 'vocabulary', ['<pad>', '<unk>', '<start>', '<end>', 'a', 'a'], '/vocabulary holds a word twice'],
  ])('%s', async (_, path, value, expected) => {
    const { modelsDir, directory } = await copyOfTiny((manifest) => put(manifest, path, value));
    folders.push(modelsDir);
    await expect(loadBundle(directory)).rejects.toThrow(expected);
  });

  it.each<[string, string, unknown, string]>([
    ['without its graph', 'graphs.check', undefined, '/check and /graphs/check: one is set alone'],
    ['alone', 'check', undefined, '/check and /graphs/check: one is set alone'],
    [
      'in a captioner of full frames',
      'glance',
      null,
      '/check is set but /glance is null: a captioner of full frames has none of names, people, check, search',
    ],
    ['without a key', 'check.vocabulary', undefined, '/check lacks the key "vocabulary"'],
    ['with an unknown key', 'check.colour', 1, '/check has the unknown key "colour"'],
    ['with slots in another order', 'check.slots', ['noun', 'action', 'colour', 'place', 'count'], '/check/slots/0'],
    ['with an id outside its words', 'check.special.end', 999, '/check/special/end is 999, but /check/vocabulary has'],
    ['with one id for two purposes', 'check.special.unk', 0, '/check/special uses one id for two purposes'],
    ['with a word twice', 'check.vocabulary', ['<pad>', '<unk>', 'a', 'a'], '/check/vocabulary holds a word twice'],
    ['with a threshold above 1', 'check.calibration.noun.threshold', 2, '/check/calibration/noun/threshold must be'],
    ['with a negative margin', 'check.margin', -1, '/check/margin'],
  ])('a truth check %s', async (_, path, value, expected) => {
    const { modelsDir, directory } = await copyOfTiny(async (manifest) => {
      await addCheck(manifest);
      put(manifest, path, value);
    });
    folders.push(modelsDir);
    await expect(loadBundle(directory)).rejects.toThrow(expected);
  });

  it('a folder without a manifest', async () => {
    expect(await refusal((directory) => rm(join(directory, 'manifest.json')))).toBe('manifest.json: is missing');
  });

  it('a manifest that is not JSON', async () => {
    const message = await refusal((directory) => writeFile(join(directory, 'manifest.json'), '{"format":'));
    expect(message).toMatch(/^manifest\.json: is not JSON: /);
  });

  it('a missing graph', async () => {
    expect(await refusal((directory) => rm(join(directory, 'caption.onnx')))).toBe('caption.onnx: is missing');
  });

  it('a file with one changed byte, with both hashes', async () => {
    const message = await refusal(async (directory) => {
      const path = join(directory, 'features.onnx');
      const bytes = await readFile(path);
      bytes[10] = (bytes[10] as number) ^ 1;
      await writeFile(path, bytes);
    });
    expect(message).toMatch(/^features\.onnx: sha256 is [0-9a-f]{64}, the manifest says [0-9a-f]{64}$/);
  });
});
