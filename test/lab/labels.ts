/** Labelled pairs for tests of facts, in a frame of 900 x 600 pixels. */
import { assess } from '../../lab/figures/facts.js';
import { normalise, type Pair, parsePairs } from '../../lab/figures/pairs.js';

const FRAME = { width: 900, height: 600 };

/** @param members of the NDJSON line; boxes in pixels */
export function pairOf(members: object): Pair {
  const line = { id: 'p', before: 'b.png', after: 'a.png', references: ['a van by the gate'], ...members };
  return normalise(parsePairs(JSON.stringify(line), 'pairs.ndjson')[0] as Pair, {
    before: FRAME,
    after: FRAME,
  });
}

/** At the lower left of the frame. */
export const van = {
  noun: 'van',
  colour: 'silver',
  action: 'appeared',
  where: 'by the gate',
  boxes_after: [[60, 400, 120, 100]],
};
export const man = {
  noun: 'man',
  colour: null,
  action: 'disappeared',
  where: 'on the road',
  boxes_before: [[700, 200, 30, 80]],
};
export const appeared = pairOf({ verdict: 'change', kind: 'appear', objects: [van] });
export const both = pairOf({ verdict: 'change', kind: 'multi', objects: [man, van] });
export const unchanged = pairOf({ verdict: 'none', kind: 'none' });

export const assessed = (pair: Pair, caption: string, kind: string | null = null) => assess(pair, { caption, kind });
