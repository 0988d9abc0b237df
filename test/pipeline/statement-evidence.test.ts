/** The measurements that the calibration of facts is fitted to. */
import type { PairNames } from '../../src/model/graph-io.js';
import type { MapRegion } from '../../src/model/regions.js';
import type { Description, LocationStatement } from '../../src/pipeline/location-statement.js';
import { statementEvidence } from '../../src/pipeline/statement-evidence.js';
import { located } from './located.js';

const KINDS = ['none', 'appear', 'disappear', 'move', 'replace', 'multi'];
const region = (side: 'before' | 'after', x: number): MapRegion => ({
  side,
  box: { x, y: 0.4, width: 0.1, height: 0.2 },
  area: 0.02,
  score: 0.9,
});
const names = { before: { nouns: [9, 0], colours: [0] }, after: { nouns: [0, 9], colours: [0] } };

function described(text: string, more: Partial<LocationStatement>): Description {
  const kindLogits = Float32Array.of(0, 3, 0, 0, 0, 0);
  const statement = located(text, {
    score: 0.9,
    probability: 0.3,
    regions: [region('after', 0.1)],
    kindLogits,
    ...more,
  });
  return { crops: [], statements: [statement], ends: [] } as unknown as Description;
}

const evidenceOf = (text: string, more: Partial<LocationStatement>) => {
  const description = described(text, more);
  const named = { ...description, statements: description.statements.map((one) => ({ ...one, probability: 0.8 })) };
  return statementEvidence(description, named, [names as unknown as PairNames], KINDS)[0];
};

it('has the stated place with the log-odds of all of its words, and the probability after naming', () => {
  const evidence = evidenceOf('two cars have appeared on the left', {});
  expect(evidence).toMatchObject({ kind: 'appear', probability: 0.8, third: 'on the left', side: null, counted: true });
  expect(evidence?.stated?.phrase).toBe('on the left');
  expect(evidence?.stated?.logit).toBeCloseTo(Math.log(0.9 ** 3 / (1 - 0.9 ** 3)));
  expect(evidence?.clause?.kind).toBeGreaterThan(0);
  expect(evidence?.regions).toEqual([{ side: 'after', box: region('after', 0.1).box, score: 0.9 }]);
});

it('has the way of a move with the agreement of the boxes, and the side that they moved to', () => {
  const moved = { regions: [region('before', 0.6), region('after', 0.2)] };
  const evidence = evidenceOf('the car has moved to the right', moved);
  expect(evidence).toMatchObject({ side: 'to the left', depth: null, counted: false, stated: { agreement: -1 } });
  expect(evidenceOf('the car has moved', moved)?.stated).toBeNull();
});

it('has no clause evidence of a caption graph that judges no kind', () => {
  expect(evidenceOf('a car has appeared', { kindLogits: null })?.clause).toBeNull();
});
