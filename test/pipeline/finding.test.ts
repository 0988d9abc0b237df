import { Value } from 'typebox/value';
import type { Prediction } from '../../src/model/calibration.js';
import type { MapRegion } from '../../src/model/regions.js';
import { saysNothingChanged } from '../../src/model/wording.js';
import {
  changedFinding,
  identicalFinding,
  sentenceOfChange,
  unchangedFinding,
} from '../../src/pipeline/finding.js';
import { type Finding, FindingSchema } from '../../src/schemas/comparison.js';

const model = { name: 'm', version: '1.0.0', sha256: 'a'.repeat(64), provider: 'cpu' };
const still = {
  moved: false,
  shift_px: 0.1,
  rotation_deg: 0,
  scale: 1,
  overlap: 1,
  inliers: 80,
  residual_px: 0.2,
};
const prediction = (part: Partial<Prediction> = {}): Prediction => ({
  change: 0.8,
  changed: true,
  nuisances: [],
  kind: { name: 'appear', score: 0.6 },
  ...part,
});
const region = (x: number): MapRegion => ({
  side: 'after',
  box: { x, y: 0.2, width: 0.1, height: 0.1 },
  area: 0.01,
  score: 0.7,
});
const sentence = (text: string) => ({
  text,
  score: 0.9,
  words: text === '' ? [] : text.split(' ').map((word) => ({ text: word, score: 0.9 })),
});
const isWhole = (finding: Finding) => expect(Value.Check(FindingSchema, finding)).toBe(true);

describe('a finding without a change', () => {
  it('of identical frames needs no model and leaves no doubt', () => {
    const finding = identicalFinding();
    isWhole(finding);
    expect(finding).toMatchObject({
      verdict: 'none',
      kind: 'none',
      caption: 'nothing has changed',
      caption_score: 1,
      confidence: 0,
      severity: 'info',
      regions: [],
      model: null,
    });
  });

  it('is none where no nuisance shows, as sure as a change is improbable', () => {
    const finding = unchangedFinding(prediction({ change: 0.1, changed: false }), model, still);
    isWhole(finding);
    expect(finding).toMatchObject({ verdict: 'none', kind: 'none', caption: 'nothing has changed' });
    expect(finding.caption_score).toBeCloseTo(0.9, 9);
    expect(finding.words.map((word) => word.text).join(' ')).toBe(finding.caption);
  });

  it("is told in the bundle's own words where it has any", () => {
    const nuisances = [{ name: 'shadow', score: 0.9 }];
    const finding = unchangedFinding(
      prediction({ change: 0.1, changed: false, nuisances }),
      model,
      still,
      'there is no change',
    );
    expect(finding).toMatchObject({ verdict: 'nuisance', caption: 'there is no change' });
  });

  it('is a nuisance and named after the strongest one', () => {
    const nuisances = [
      { name: 'shadow', score: 0.9 },
      { name: 'noise', score: 0.6 },
    ];
    const finding = unchangedFinding(prediction({ change: 0.1, changed: false, nuisances }), model, still);
    isWhole(finding);
    expect(finding).toMatchObject({ verdict: 'nuisance', caption: 'only the shadows have changed' });
    expect(finding.nuisance).toEqual(nuisances);
  });

  it('has a sentence for a nuisance that has none of its own', () => {
    const nuisances = [{ name: 'moonlight', score: 0.9 }];
    const finding = unchangedFinding(prediction({ change: 0.1, changed: false, nuisances }), model, still);
    expect(finding).toMatchObject({ verdict: 'nuisance', caption: 'nothing has changed' });
  });
});

describe('a finding of a change', () => {
  it("carries the caption graph's words and numbered regions", () => {
    const caption = sentence('a car has appeared');
    const chosen = sentenceOfChange(caption, prediction(), [region(0.1), region(0.7)]);
    const finding = changedFinding(prediction(), chosen.sentence, [region(0.1), region(0.7)], model, still);
    isWhole(finding);
    expect(chosen).toEqual({ sentence: caption, replaced: false });
    expect(finding).toMatchObject({ verdict: 'change', kind: 'appear', severity: 'medium', confidence: 0.8 });
    expect(finding.regions.map(({ id, box }) => [id, box.x])).toEqual([
      [1, 0.1],
      [2, 0.7],
    ]);
  });

  it.each([
    ['nothing has changed', 0.05, 'something has appeared on the left'],
    ['there is no change', 0.45, 'something has appeared in the middle'],
    ['the scene is the same as before', 0.9, 'something has appeared on the right'],
    ['only the light has changed', 0.9, 'something has appeared on the right'],
    ['', 0.9, 'something has appeared on the right'],
  ])('never says "%s": a plain sentence with the score of its kind', (text, x, expected) => {
    const { sentence: chosen, replaced } = sentenceOfChange(sentence(text), prediction(), [region(x)]);
    expect(replaced).toBe(true);
    expect(chosen.text).toBe(expected);
    expect(new Set(chosen.words.map((word) => word.score))).toEqual(new Set([0.6]));
    expect(chosen.score).toBe(0.6);
  });

  it('names no place where there is no region', () => {
    const { sentence: chosen } = sentenceOfChange(
      sentence(''),
      prediction({ kind: { name: 'multi', score: 0.5 } }),
      [],
    );
    expect(chosen.text).toBe('several things have changed');
  });
});

describe('saysNothingChanged', () => {
  it.each([
    'nothing has changed except the light',
    'no change can be seen',
    'everything is as before',
    'only the camera has moved slightly',
  ])('hears it in "%s"', (text) => {
    expect(saysNothingChanged(text)).toBe(true);
  });

  it.each(['there is a car on the road now', 'the man is no longer there', 'a noticeboard has appeared'])(
    'does not hear it in "%s"',
    (text) => {
      expect(saysNothingChanged(text)).toBe(false);
    },
  );
});
