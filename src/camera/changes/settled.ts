/** Changes that have become part of "before", which is a background per light in the mode memory. Pure. */
import { settledChange } from './change-record.js';
import type { Observation, OpenTrack, Settled } from './state.js';

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

/** A settled change that a frame undoes: the backgrounds of the other lights may still show the thing. */
export function goneFrom(settled: Settled, { light }: Observation): Settled[] {
  const { change } = settled;
  if (change.kind === 'tamper') return [];
  const { goneIn = light?.others ?? [] } = settled;
  const left = goneIn.filter((one) => one !== light?.now);
  return left.length === 0 ? [] : [{ ...settled, reportedAt: Date.parse(change.last_seen), goneIn: left }];
}
