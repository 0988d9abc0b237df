import { logitOf as logit, sigmoid } from '../../src/base/logistic.js';
import { mostProbableKind, predictionOf } from '../../src/model/calibration.js';
import { type BundleManifest, loadBundle } from '../../src/model/manifest.js';
import { TINY } from './tiny-bundle.js';

let manifest: BundleManifest;
beforeAll(async () => {
  manifest = structuredClone((await loadBundle(TINY)).manifest);
  manifest.calibration = {
    change: { scale: 2, offset: -1 },
    threshold: 0.7,
    operating_points: [],
    nuisances: { lighting: 0.6, ir_switch: 0.2 },
  };
});

const logits = (change: number, kinds = [0, 1, 0, 0, 0, 0], nuisances = [-9, -9]) => ({
  changeLogit: change,
  kindLogits: Float32Array.from(kinds),
  nuisanceLogits: Float32Array.from(nuisances),
});

describe('predictionOf', () => {
  it('maps the change logit through scale and offset', () => {
    expect(predictionOf(logits(1.5), manifest).change).toBeCloseTo(sigmoid(2), 9);
  });

  it('is changed from the threshold on', () => {
    const at = (p: number) => predictionOf(logits((logit(p) + 1) / 2), manifest).changed;
    expect([at(0.699), at(0.701)]).toEqual([false, true]);
  });

  it("takes another threshold, as a camera's settings give", () => {
    const at = (p: number, threshold: number) => predictionOf(logits((logit(p) + 1) / 2), manifest, threshold).changed;
    expect([at(0.699, 0.69), at(0.701, 0.71), at(0.01, 0)]).toEqual([true, false, true]);
  });

  it('grows with the logit', () => {
    const values = [-9, -1, 0, 0.5, 3, 9].map((change) => predictionOf(logits(change), manifest).change);
    expect([...values].sort((a, b) => a - b)).toEqual(values);
  });

  it('lists the nuisances that reach their own threshold, the most probable first', () => {
    const found = predictionOf(logits(0, undefined, [logit(0.65), logit(0.7)]), manifest).nuisances;
    expect(found.map(({ name }) => name)).toEqual(['ir_switch', 'lighting']);
    expect(found[0]?.score).toBeCloseTo(0.7, 6);
    expect(predictionOf(logits(0, undefined, [logit(0.59), logit(0.19)]), manifest).nuisances).toEqual([]);
  });

  it('chooses a kind of change even if none is more probable', () => {
    const { kind } = predictionOf(logits(9, [50, 0, 1, 0, 0, 0]), manifest);
    expect(kind.name).toBe('disappear');
    expect(kind.score).toBeCloseTo(Math.E / (Math.E + 4), 6);
  });
});

describe('mostProbableKind', () => {
  it('returns the most probable kind of change and its share among them', () => {
    const kinds = ['none', 'appear', 'move'];
    expect(mostProbableKind(Float32Array.from([9, 1, 1 + Math.log(3)]), kinds)).toEqual({
      name: 'move',
      score: expect.closeTo(0.75, 6),
    });
  });
});
