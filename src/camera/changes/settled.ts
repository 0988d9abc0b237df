/** Changes that have become part of "before", which is a background per light in the mode memory. Pure. */
import type { Light } from '../settings/light.js';
import { settledChange } from './change-record.js';
import type { Observation, OpenTrack, Settled, TrackerState } from './state.js';

export const settledOf = (
  { change, acknowledged, still, lastAlerted, normal }: OpenTrack,
  at: number,
  notIn: Settled['notIn'] = [],
): Settled => ({
  change: settledChange(change, at),
  reportedAt: Date.parse(change.last_seen),
  acknowledged,
  // A thing that a person calls normal is never reported as left.
  still: normal === true ? null : still,
  lastAlerted,
  ...(notIn.length === 0 ? {} : { notIn }),
});

/** A settled change that a frame undoes: the backgrounds of other lights that show it still do. */
export function goneFrom(settled: Settled, { light }: Observation): Settled[] {
  const { change, notIn = [] } = settled;
  if (change.kind === 'tamper') return [];
  const { goneIn = light?.others.filter((one) => !notIn.includes(one)) ?? [] } = settled;
  const left = goneIn.filter((one) => one !== light?.now);
  return left.length === 0 ? [] : [{ ...settled, reportedAt: Date.parse(change.last_seen), goneIn: left }];
}

/** @param light whose background was replaced by a frame that shows the scene; absent: all were */
export function shownAnew(state: TrackerState, light?: Light): TrackerState {
  const others = (lights: readonly Light[]) => lights.filter((one) => light !== undefined && one !== light);
  const settled = state.settled.flatMap(({ notIn = [], goneIn, ...one }): Settled[] => {
    const [hidden, gone] = [others(notIn), goneIn && others(goneIn)];
    if (gone?.length === 0) return [];
    return [
      { ...one, ...(hidden.length === 0 ? {} : { notIn: hidden }), ...(gone === undefined ? {} : { goneIn: gone }) },
    ];
  });
  return { ...state, settled };
}
