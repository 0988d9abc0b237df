import { type BundleManifest, loadBundle } from '../../src/model/manifest.js';
import { chooseAlignment, fuse } from '../../src/pipeline/nuisance-fusion.js';
import { examine } from '../../src/viewpoint/examine.js';
import { TINY } from '../model/tiny-bundle.js';
import { altered, flat, seen, size, street } from '../viewpoint/scenes.js';

const NUISANCES = ['lighting', 'ir_switch', 'weather', 'foliage'];
let manifest: BundleManifest;
beforeAll(async () => {
  manifest = structuredClone((await loadBundle(TINY)).manifest);
  manifest.nuisances = NUISANCES;
  manifest.calibration.nuisances = Object.fromEntries(NUISANCES.map((name) => [name, 0.5]));
});

/** Logits of a model that names these nuisances with certainty and no other. */
const logits = (...named: string[]) => ({
  changeLogit: 1,
  kindLogits: new Float32Array(manifest.kinds.length),
  nuisanceLogits: Float32Array.from(NUISANCES, (name) => (named.includes(name) ? 8 : -8)),
});
const before = street('before');
const dim = examine(
  before,
  altered(before, (value) => value * 0.5),
);
const namesOf = (given: ReturnType<typeof logits>, evidence = dim) =>
  fuse(given, evidence, manifest, undefined).nuisances.map(({ name }) => name);

describe('fuse', () => {
  it("takes the change probability from the model's calibration alone", () => {
    const { scale, offset } = manifest.calibration.change;
    const { change } = fuse(logits(), dim, manifest, undefined);
    expect(change).toBeCloseTo(1 / (1 + Math.exp(-scale - offset)), 9);
  });

  it("decides by the caller's threshold, or else by the manifest's", () => {
    const strict = { ...manifest, calibration: { ...manifest.calibration, threshold: 1 } };
    expect(fuse(logits(), dim, strict, undefined).changed).toBe(false);
    expect(fuse(logits(), dim, strict, 0.01).changed).toBe(true);
  });

  it('names a nuisance that only the evidence sees', () => {
    const { nuisances } = fuse(logits(), dim, manifest, undefined);
    expect(nuisances[0]).toEqual({ name: 'lighting', score: expect.closeTo(dim.nuisances.lighting, 3) });
  });

  it('puts unmeasured nuisances after measured ones, and drops a measured one that only the model sees', () => {
    expect(namesOf(logits('ir_switch', 'foliage'))).toEqual(['lighting', 'foliage']);
  });

  it("keeps all of the model's nuisances if the frames show too little to measure", () => {
    const blank = examine(flat(90), flat(120));
    expect(namesOf(logits('ir_switch', 'foliage'), blank).sort()).toEqual(['foliage', 'ir_switch']);
  });

  it.each<[string, boolean, number, boolean]>([
    ['not if only the evidence sees it', false, 0.95, false],
    ['if the model sees it and the evidence does not exclude it', true, 0.001, true],
    ['not if the evidence excludes it', true, 0.0001, false],
    ['if both see it', true, 0.95, true],
  ])('gives weather equal weights: names it %s', (_, model, weather, expected) => {
    const evidence = { ...dim, nuisances: { ...dim.nuisances, weather } };
    expect(namesOf(model ? logits('weather') : logits(), evidence).includes('weather')).toBe(expected);
  });
});

describe('chooseAlignment', () => {
  const moved = examine(before, seen(before, { x: 12 }).image);

  it.each<[string, number | undefined, boolean]>([
    ['the registration if the camera moved further than align_from', 10 / size.width, true],
    ['null if it moved less', 14 / size.width, false],
    ['null if the manifest has no align_from', undefined, false],
  ])('is %s', (_, alignFrom, expected) => {
    const given = alignFrom === undefined ? {} : { align_from: alignFrom };
    expect(chooseAlignment(moved, given)).toBe(expected ? moved.registration : null);
  });

  it('is null if the views could not be registered', () => {
    const elsewhere = examine(before, street('elsewhere'));
    expect(chooseAlignment(elsewhere, { align_from: 0 })).toBeNull();
  });
});
