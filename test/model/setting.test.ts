/** The setting of a frame as evidence for names: vehicles are outdoors. */
import { describe, expect, it } from '@jest/globals';
import { softmax } from '../../src/base/logistic.js';
import { namesInSetting, outdoors } from '../../src/model/setting.js';
import { cropNames, NAMES } from './names.js';

const features = (...coarse: number[]) => ({ coarse: Float32Array.from(coarse), fine: new Float32Array(0) });

describe('the probability of the outdoors', () => {
  it('is that of the regression on the mean of each channel', () => {
    // Means 2 and 1: log-odds of the indoors 2 * 1 - 1 * 0.5 - 0.5.
    const rule = { weights: [1, -0.5], offset: -0.5 };
    expect(outdoors(features(1, 3, 0, 2), rule)).toBeCloseTo(1 / (1 + Math.E));
  });

  it('needs as many weights as channels', () => {
    expect(() => outdoors(features(1, 2, 3, 4), { weights: [1, 1, 1], offset: 0 })).toThrow('3 weights, 4 features');
  });
});

describe('names of a crop', () => {
  const share = (given: ReturnType<typeof cropNames>, noun: string) =>
    softmax(given.nouns)[NAMES.nouns.indexOf(noun)] as number;

  it('give way to those of other classes indoors, and stay outdoors', () => {
    const unsure = cropNames({ car: 0.6, man: 0.3, nothing: 0.01 });
    const indoors = namesInSetting(unsure, 0.05, NAMES);
    expect(share(indoors, 'man')).toBeGreaterThan(0.7);
    expect(share(indoors, 'car') / share(indoors, 'man')).toBeCloseTo((0.05 * 0.6) / 0.3);
    expect(namesInSetting(unsure, 1, NAMES).nouns).toEqual(unsure.nouns);
    expect(indoors.colours).toBe(unsure.colours);
  });

  it('of a certain vehicle stay in a hall', () => {
    const certain = cropNames({ car: 0.9999, man: 0.00001, nothing: 0.00001 });
    expect(share(namesInSetting(certain, 0, NAMES), 'car')).toBeGreaterThan(0.9);
  });
});
