import { Value } from 'typebox/value';
import type { Prediction } from '../../src/model/calibration.js';
import type { MapRegion } from '../../src/model/regions.js';
import { type Sentence, uniformScores } from '../../src/model/tokenizer.js';
import { changedFinding, identicalFinding, unchangedFinding } from '../../src/pipeline/finding.js';
import type { LocationFact } from '../../src/pipeline/location-statement.js';
import { type Finding, FindingSchema } from '../../src/schemas/comparison.js';
import { keepRegions } from '../../src/schemas/finding.js';

/** A sentence of another grammar, of the kind of the prediction. */
const captioned = (sentence: Sentence) => ({ sentence, kind: changed.kind, content: undefined });
const model = { name: 'm', version: '1.0.0', sha256: 'A'.repeat(64), provider: 'cpu' };
const still = {
  moved: false,
  shift_px: 0.1,
  rotation_deg: 0,
  scale: 1,
  overlap: 1,
  inliers: 80,
  residual_px: 0.2,
};
const changed: Prediction = {
  change: 0.8,
  changed: true,
  nuisances: [],
  kind: { name: 'appear', score: 0.6 },
};
const unchanged = (nuisances: Prediction['nuisances'] = []): Prediction => ({
  ...changed,
  change: 0.1,
  changed: false,
  nuisances,
});
const region = (x: number): MapRegion => ({
  side: 'after',
  box: { x, y: 0.2, width: 0.1, height: 0.1 },
  area: 0.01,
  score: 0.7,
});
const expectValid = (finding: Finding) => expect(Value.Check(FindingSchema, finding)).toBe(true);

describe('the objects of a finding', () => {
  const one = (value: 'person' | 'object', shown: MapRegion): LocationFact => ({
    ...{ kind: { value: 'appear', probability: 0.9 }, noun: { value, probability: 0.9 }, nouns: [], colour: null },
    ...{
      class: { value, probability: 0.9 },
      count: { value: 1, probability: 0.9 },
      place: null,
      way: null,
      colours: [],
    },
    regions: [shown],
  });
  const [person, bag] = [region(0.3), region(0.42)];
  const sentence = uniformScores('a bag has appeared', 0.7);
  const facts = [one('person', person), one('object', bag)];
  const finding = changedFinding(changed, captioned(sentence), [person, bag], model, still, undefined, facts);

  it('have the id and the box of their owner', () => {
    expectValid(finding);
    expect(finding.facts?.map(({ object }) => object?.value ?? null)).toEqual([null, 'object_left']);
    expect(finding.facts?.[1]?.object?.owner).toEqual({ region: 1, box: person.box });
  });

  it('lose their owner with its region, and follow its number and box', () => {
    const keep = (keeps: (id: number) => boolean) =>
      keepRegions(finding, (one) => (keeps(one.id) ? { ...one, box: { ...one.box, y: 0 } } : null)).facts;
    expect(keep((id) => id === 2)?.map(({ object, regions }) => [object?.owner, regions])).toEqual([[null, [1]]]);
    expect(keep(() => true)?.[1]?.object?.owner).toEqual({ region: 1, box: { ...person.box, y: 0 } });
  });
});

describe('identicalFinding', () => {
  it('has verdict none, confidence 0 and no model', () => {
    const finding = identicalFinding();
    expectValid(finding);
    expect(finding).toMatchObject({
      verdict: 'none',
      kind: 'none',
      caption: 'Nothing has changed.',
      caption_score: 1,
      confidence: 0,
      severity: 'info',
      regions: [],
      model: null,
    });
  });
});

describe('unchangedFinding', () => {
  it('has verdict none without a nuisance; the caption has the probability that nothing changed', () => {
    const finding = unchangedFinding(unchanged(), model, still);
    expectValid(finding);
    expect(finding).toMatchObject({ verdict: 'none', kind: 'none', caption: 'Nothing has changed.' });
    expect(finding.caption_score).toBeCloseTo(0.9, 9);
    expect(finding.words.map((word) => word.text).join(' ')).toBe(finding.caption);
  });

  it("has the bundle's sentence if the bundle has one", () => {
    const prediction = unchanged([{ name: 'shadow', score: 0.9 }]);
    const finding = unchangedFinding(prediction, model, still, 'there is no change');
    expect(finding).toMatchObject({ verdict: 'nuisance', caption: 'There is no change.' });
  });

  it('has verdict nuisance and the sentence of the first one', () => {
    const nuisances = [
      { name: 'shadow', score: 0.9 },
      { name: 'noise', score: 0.6 },
    ];
    const finding = unchangedFinding(unchanged(nuisances), model, still);
    expectValid(finding);
    expect(finding).toMatchObject({ verdict: 'nuisance', caption: 'Only the shadows have changed.' });
    expect(finding.nuisance).toEqual(nuisances);
  });

  it('has the general sentence for a nuisance without a sentence', () => {
    const finding = unchangedFinding(unchanged([{ name: 'moonlight', score: 0.9 }]), model, still);
    expect(finding).toMatchObject({ verdict: 'nuisance', caption: 'Nothing has changed.' });
  });
});

describe('changedFinding', () => {
  it('has the sentence, its words and numbered regions', () => {
    const sentence = uniformScores('a car has appeared', 0.9);
    const finding = changedFinding(changed, captioned(sentence), [region(0.1), region(0.7)], model, still);
    expectValid(finding);
    expect(finding).toMatchObject({
      verdict: 'change',
      kind: 'appear',
      severity: 'medium',
      confidence: 0.8,
      caption: 'A car has appeared.',
      caption_score: 0.9,
      words: ['A', 'car', 'has', 'appeared.'].map((text) => ({ text, score: 0.9 })),
    });
    expect(finding.regions.map(({ id, box }) => [id, box.x])).toEqual([
      [1, 0.1],
      [2, 0.7],
    ]);
  });
});
