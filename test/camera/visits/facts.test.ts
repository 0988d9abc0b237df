/** Things of a frame for the visits, from its regions and the things that the pixels show in them. */
import { expect, it } from '@jest/globals';
import { viewOf, visitThings } from '../../../src/camera/visits/facts.js';

const region = {
  id: 1,
  side: 'after' as const,
  box: { x: 0.1, y: 0.2, width: 0.4, height: 0.3 },
  area: 0.1,
  score: 0.9,
};
const seen = [0.12, 0.3].map((x) => ({
  region: 1,
  side: 'after' as const,
  box: { x, y: 0.2, width: 0.15, height: 0.3 },
  colours: [100],
}));
const named = (value: string, kind: string) => ({
  regions: [1],
  noun: { value, probability: 0.9 },
  class: { value: kind, probability: 0.9 },
  count: { value: 2, probability: 0.9 },
});
const found = (value: string, kind: string) =>
  ({ verdict: 'change', nuisance: [], regions: [region], facts: [named(value, kind)] }) as unknown as Parameters<
    typeof visitThings
  >[0];

it('two parts of a region of people are two things of one person each', () => {
  const things = visitThings(found('person', 'person'), [region], seen);
  expect(things.map(({ box, name }) => [box.x, name?.count])).toEqual([
    [0.12, 1],
    [0.3, 1],
  ]);
});

it('the parts of a vehicle are one thing', () => {
  const [vehicle, ...others] = visitThings(found('car', 'vehicle'), [region], seen);
  expect(others).toEqual([]);
  expect(vehicle?.box.x).toBe(0.12);
  expect(vehicle?.box.width).toBeCloseTo(0.33);
});

it('a name of a region with two things is that of either of them', () => {
  const [person] = visitThings(found('person', 'person'), [region], seen.slice(0, 1));
  const [either] = visitThings(found('person', 'person'), [region], seen);
  expect([person, either].map((thing) => thing?.name?.classProbability)).toEqual([0.9, 0.45]);
});

it('weather hides the view, and something on the lens does not', () => {
  const view = (name: string) => viewOf({ verdict: 'nuisance', nuisance: [{ name, score: 0.9 }], regions: [] }, true);
  expect([view('weather'), view('lens')]).toEqual(['hidden', 'shows']);
});
