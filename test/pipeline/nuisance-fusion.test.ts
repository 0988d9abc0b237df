import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import { type Bundle, loadBundle, type Manifest } from '../../src/model/manifest.js';
import { believe, isToBeAligned, loadRules, loadVerdictRule } from '../../src/pipeline/nuisance-fusion.js';
import { examine } from '../../src/viewpoint/examine.js';
import { TINY } from '../model/tiny-bundle.js';
import { altered, flat, seen, size, street } from '../viewpoint/scenes.js';
import { ruleFor } from './rules.js';

let bundle: Bundle;
beforeEach(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sd-rule-'));
  await cp(TINY, directory, { recursive: true });
  bundle = await loadBundle(directory);
});
afterEach(() => rm(bundle.directory, { recursive: true }));
const put = (content: unknown) =>
  writeFile(
    join(bundle.directory, 'verdict.json'),
    typeof content === 'string' ? content : JSON.stringify(content),
  );

describe("a bundle's rule", () => {
  const onStale = jest.fn();
  beforeEach(() => onStale.mockClear());

  it('is read where it was fitted to these weights', async () => {
    await put(ruleFor(bundle));
    expect(await loadVerdictRule(bundle, onStale)).toEqual(ruleFor(bundle));
    expect(onStale).not.toHaveBeenCalled();
  });

  it('is none where there is no file', async () => {
    expect(await loadVerdictRule(bundle, onStale)).toBeNull();
  });

  it('is left aside, and that is said, where the weights are others by now', async () => {
    await put(ruleFor({ ...bundle, sha256: '0'.repeat(64) }));
    expect(await loadVerdictRule(bundle, onStale)).toBeNull();
    expect(onStale).toHaveBeenCalledWith(
      expect.stringContaining(`was fitted to bundle 000000000000, and this is ${bundle.sha256.slice(0, 12)}`),
    );
  });

  it.each<[string, Partial<Manifest['calibration']>]>([
    ['scale', { change: { scale: 7, offset: 0 } }],
    ['threshold', { threshold: 0.123 }],
    ['operating point', { operating_points: [{ false_alarm_rate: 0.01, threshold: 0.123 }] }],
  ])('is left aside, and that is said, where the calibration has another %s by now', async (_, part) => {
    await put(ruleFor(bundle));
    const { manifest } = bundle;
    const later = { ...bundle, manifest: { ...manifest, calibration: { ...manifest.calibration, ...part } } };
    expect(await loadVerdictRule(later, onStale)).toBeNull();
    expect(onStale).toHaveBeenCalledWith(expect.stringContaining('was fitted to calibration'));
  });

  it('is left aside where it does not say to which calibration it was fitted', async () => {
    const { calibration_sha256: _, ...older } = ruleFor(bundle);
    await put(older);
    expect(await loadVerdictRule(bundle, onStale)).toBeNull();
    expect(onStale).toHaveBeenCalledWith(expect.stringContaining('does not say to which calibration'));
  });

  it('holds of other thresholds of nuisances, for which it does not stand in', async () => {
    await put(ruleFor(bundle));
    const { manifest } = bundle;
    const calibration = { ...manifest.calibration, nuisances: { lighting: 0.9 }, least_agreement: 0.2 };
    expect(
      await loadVerdictRule({ ...bundle, manifest: { ...manifest, calibration } }, onStale),
    ).not.toBeNull();
  });

  it('is there for the bundle that is served', async () => {
    const shipped = await loadBundle(
      fileURLToPath(new URL('../../models/scorer-surveillance', import.meta.url)),
    );
    expect((await loadVerdictRule(shipped, onStale))?.align_from).toBeGreaterThan(0);
    expect(onStale).not.toHaveBeenCalled();
  });

  it.each<[string, unknown, RegExp]>([
    ['is not JSON', '{', /verdict\.json: is not JSON: /],
    ['has a threshold that is no probability', { threshold: 2 }, /verdict\.json: \/threshold /],
    [
      'weighs what is not measured',
      { change: { offset: 0, model: 1, weights: { mood: 1 } } },
      /verdict\.json: \/change/,
    ],
  ])('is refused where it %s, naming the file', async (_, part, message) => {
    await put(typeof part === 'string' ? part : { ...ruleFor(bundle), ...(part as object) });
    await expect(loadVerdictRule(bundle, onStale)).rejects.toThrow(message);
  });

  it('that is broken stops the default bundle, and leaves another one to its model', async () => {
    await put('{');
    const logger = { warn: jest.fn(), error: jest.fn() };
    const { name } = bundle.manifest;
    await expect(loadRules([bundle], name, logger)).rejects.toThrow('is not JSON');
    expect((await loadRules([bundle], 'another', logger)).size).toBe(0);
    expect(logger.error).toHaveBeenCalledTimes(1);
  });
});

describe('believe', () => {
  const before = street('before');
  const dim = examine(
    before,
    altered(before, (value) => value * 0.5),
  );
  const logits = () => ({
    changeLogit: 1,
    kindLogits: new Float32Array(bundle.manifest.kinds.length),
    nuisanceLogits: new Float32Array(bundle.manifest.nuisances.length),
  });

  it('is the model alone where there is no rule', () => {
    const { scale, offset } = bundle.manifest.calibration.change;
    const { change } = believe(logits(), dim, bundle.manifest, null, undefined);
    expect(change).toBeCloseTo(1 / (1 + Math.exp(-scale - offset)), 9);
  });

  it("adds the evidence's weighted logits to the model's", () => {
    const change = { offset: -1, model: 2, weights: { lighting: -3 } };
    const rule = ruleFor(bundle, { change });
    const { lighting } = dim.nuisances;
    const expected = -1 + 2 * 1 - 3 * Math.log(lighting / (1 - lighting));
    expect(believe(logits(), dim, bundle.manifest, rule, undefined).change).toBeCloseTo(
      1 / (1 + Math.exp(-expected)),
      9,
    );
  });

  it('is not touched by evidence that has no weight, whatever it is', () => {
    const rule = ruleFor(bundle, { change: { offset: -1, model: 2, weights: { noise: 0 } } });
    const unknown = { ...dim, nuisances: { ...dim.nuisances, noise: Number.NaN, shadow: Number.NaN } };
    const { change } = believe(logits(), unknown, bundle.manifest, rule, undefined);
    expect(change).toBeCloseTo(1 / (1 + Math.exp(-1)), 9);
  });

  it("decides by the caller's threshold, or else by the rule's", () => {
    const rule = ruleFor(bundle, { threshold: 0.99 });
    expect(believe(logits(), dim, bundle.manifest, rule, undefined).changed).toBe(false);
    expect(believe(logits(), dim, bundle.manifest, rule, 0.5).changed).toBe(true);
  });

  it.each([
    ['where a rule has fitted it', true],
    ['where there is no rule', false],
  ])('names a nuisance that only the evidence sees, %s', (_, ruled) => {
    const rule = ruled ? ruleFor(bundle) : null;
    const { nuisances } = believe(logits(), dim, bundle.manifest, rule, undefined);
    expect(nuisances[0]).toEqual({ name: 'lighting', score: expect.closeTo(dim.nuisances.lighting, 3) });
  });

  describe('of what the model alone sees', () => {
    const nuisances = ['lighting', 'ir_switch', 'weather', 'foliage'];
    const sees = (...names: string[]) => ({
      ...logits(),
      nuisanceLogits: Float32Array.from(nuisances, (name) => (names.includes(name) ? 8 : -8)),
    });
    const named = (given: ReturnType<typeof logits>, evidence = dim) => {
      const thresholds = Object.fromEntries(nuisances.map((name) => [name, 0.5]));
      const calibration = { ...bundle.manifest.calibration, nuisances: thresholds };
      const manifest = { ...bundle.manifest, nuisances, calibration };
      return believe(given, evidence, manifest, null, undefined).nuisances.map(({ name }) => name);
    };
    const rainy = (weather: number) => ({ ...dim, nuisances: { ...dim.nuisances, weather } });

    it('names what the evidence does not know, after what that has measured, and nothing that it would have seen', () => {
      expect(named(sees('ir_switch', 'foliage'))).toEqual(['lighting', 'foliage']);
    });

    it('names all of it where the picture shows nothing to measure by', () => {
      const blank = examine(flat(90), flat(120));
      expect(named(sees('ir_switch', 'foliage'), blank).sort()).toEqual(['foliage', 'ir_switch']);
    });

    it('names weather where the evidence agrees: leaves in the wind look like it to the one or to the other', () => {
      expect(named(sees(), rainy(0.95))).not.toContain('weather');
      expect(named(sees('weather'), rainy(0.001))).toContain('weather');
      expect(named(sees('weather'), rainy(0.0001))).not.toContain('weather');
      expect(named(sees('weather'), rainy(0.95))).toContain('weather');
    });
  });
});

describe('isToBeAligned', () => {
  const before = street('before');
  const moved = examine(before, seen(before, { x: 12 }).image);

  it.each<[string, number | null, boolean]>([
    ['the camera moved further than the rule says', 10 / size.width, true],
    ['it moved less', 14 / size.width, false],
    ['the rule never aligns', null, false],
  ])('where %s', (_, align_from, expected) => {
    expect(isToBeAligned(moved, ruleFor(bundle, { align_from }))).toBe(expected);
  });

  it('never where the views could not be registered', () => {
    const elsewhere = examine(before, street('elsewhere'));
    expect(isToBeAligned(elsewhere, ruleFor(bundle, { align_from: 0 }))).toBe(false);
  });
});
