/** Settled changes by the lights whose backgrounds show them. */
import { expect, it } from '@jest/globals';
import { goneFrom, shownAnew } from '../../../src/camera/changes/settled.js';
import type { Observation, Settled, TrackerState } from '../../../src/camera/changes/state.js';

const settledIn = (lights: Pick<Settled, 'notIn' | 'goneIn'>) =>
  ({ change: { kind: 'appear', last_seen: '2026-01-01T00:00:00.000Z' }, ...lights }) as unknown as Settled;
const by = (now: string, ...others: string[]) => ({ light: { now, others } }) as unknown as Observation;

it('an end is not expected of a background that never showed the thing', () => {
  const one = settledIn({ notIn: ['infrared'] });
  expect(goneFrom(one, by('day', 'infrared'))).toEqual([]);
  expect(goneFrom(one, by('day', 'infrared', 'dusk')).map(({ goneIn }) => goneIn)).toEqual([['dusk']]);
});

it('a background that was replaced shows the thing, or its absence', () => {
  const state = { settled: [settledIn({ notIn: ['infrared', 'dusk'] }), settledIn({ goneIn: ['infrared'] })] };
  const lights = ({ settled }: TrackerState) => settled.map(({ notIn, goneIn }) => [notIn, goneIn]);
  expect(lights(shownAnew(state as unknown as TrackerState, 'infrared'))).toEqual([[['dusk'], undefined]]);
  expect(lights(shownAnew(state as unknown as TrackerState, 'dusk'))).toEqual([
    [['infrared'], undefined],
    [undefined, ['infrared']],
  ]);
  expect(lights(shownAnew(state as unknown as TrackerState))).toEqual([[undefined, undefined]]);
});
