import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { loadBundles } from '../../src/pipeline/bundles.js';
import { copyOfTiny, put } from '../model/tiny-bundle.js';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

const logger = { warn: jest.fn(), error: jest.fn() };
beforeEach(() => jest.clearAllMocks());

/** A models folder with the tiny bundle. @param rule content of a legacy verdict.json */
async function load(alignFrom: number | undefined, rule?: (bundleSha256: string) => unknown) {
  const { modelsDir, directory } = await copyOfTiny((manifest) => put(manifest, 'align_from', alignFrom));
  folders.push(modelsDir);
  const [plain] = await loadBundles(modelsDir, 'bundle-tiny', logger);
  if (rule === undefined) return plain?.manifest.align_from;
  const content = rule(plain?.sha256 ?? '');
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  await writeFile(join(directory, 'verdict.json'), text);
  const [bundle] = await loadBundles(modelsDir, 'bundle-tiny', logger);
  return bundle?.manifest.align_from;
}

describe('align_from of a bundle', () => {
  it('is read from the manifest', async () => {
    expect(await load(0.025)).toBe(0.025);
  });

  it('is absent from a manifest without it, and nothing is logged', async () => {
    expect(await load(undefined)).toBeUndefined();
    expect(logger.warn).not.toHaveBeenCalled();
  });

  it('is read from a verdict.json of the same graphs, with a warning that names the key to add', async () => {
    expect(await load(undefined, (sha256) => ({ bundle_sha256: sha256, align_from: 0.0125 }))).toBe(0.0125);
    expect(logger.warn).toHaveBeenCalledTimes(1);
    expect(logger.warn).toHaveBeenCalledWith(
      { model: 'bundle-tiny' },
      'only align_from of verdict.json is read: put "align_from": 0.0125 into manifest.json',
    );
  });

  it('of the manifest wins over verdict.json', async () => {
    expect(await load(0.025, (sha256) => ({ bundle_sha256: sha256, align_from: 0.5 }))).toBe(0.025);
    expect(logger.warn).not.toHaveBeenCalled();
  });

  it.each<[string, (sha256: string) => unknown]>([
    ['is not JSON', () => '{'],
    ['is the JSON value null', () => null],
    ['was written for other graphs', () => ({ bundle_sha256: '0'.repeat(64), align_from: 0.0125 })],
    ['never aligns', (sha256) => ({ bundle_sha256: sha256, align_from: null })],
    ['holds a negative number', (sha256) => ({ bundle_sha256: sha256, align_from: -1 })],
  ])('is absent, with one warning, if verdict.json %s', async (_, rule) => {
    expect(await load(undefined, rule)).toBeUndefined();
    expect(logger.warn).toHaveBeenCalledTimes(1);
    expect(logger.warn).toHaveBeenCalledWith({ model: 'bundle-tiny' }, expect.stringContaining('"align_from"'));
  });

  it('is absent if verdict.json cannot be read', async () => {
    const { modelsDir, directory } = await copyOfTiny(() => {});
    folders.push(modelsDir);
    await mkdir(join(directory, 'verdict.json'));
    const [bundle] = await loadBundles(modelsDir, 'bundle-tiny', logger);
    expect(bundle?.manifest.align_from).toBeUndefined();
    expect(logger.warn).toHaveBeenCalledTimes(1);
  });
});
