/** The sentence of a change with the names of zones. */
import { describe, expect, it } from '@jest/globals';
import { namePlaces } from '../../../src/camera/changes/place-names.js';
import type { ChangeRegion } from '../../../src/schemas/change.js';
import type { ChangeKind } from '../../../src/schemas/kinds.js';

const PHRASES = {
  bay: { at: 'in loading bay 2', end: 'loading bay 2' },
  gate: { at: 'at the gate', end: 'the gate' },
  shed: { at: 'behind the shed', end: 'behind the shed' },
};
const region = (side: ChangeRegion['side'], zone: string | null): ChangeRegion => ({
  side,
  box: { x: 0.1, y: 0.1, width: 0.1, height: 0.1 },
  area: 0.01,
  score: 0.9,
  zone,
});
const SIDES_OF: Record<string, readonly ChangeRegion['side'][]> = {
  appear: ['after'],
  disappear: ['before'],
  replace: ['before', 'after'],
};
const inBay = (caption: string, kind: ChangeKind) =>
  namePlaces(
    caption,
    kind,
    (SIDES_OF[kind] ?? []).map((side) => region(side, 'bay')),
    PHRASES,
  );
const moved = (caption: string, from: string | null, to: string | null) =>
  namePlaces(caption, 'move', [region('after', to), region('before', from)], PHRASES);

describe('the sentence of a change in a named zone', () => {
  it.each<[ChangeKind, string, string]>([
    ['appear', 'a white van has appeared on the right', 'A white van has appeared in loading bay 2.'],
    ['appear', 'a white van has appeared', 'A white van has appeared in loading bay 2.'],
    ['appear', 'two men have arrived by the fence', 'Two men have arrived in loading bay 2.'],
    ['appear', 'there is a van on the left now', 'There is a van in loading bay 2 now.'],
    ['appear', 'there are two cars now', 'There are two cars in loading bay 2 now.'],
    ['appear', 'there is a van by the lamp post now', 'There is a van in loading bay 2 now.'],
    ['appear', 'a car is now in the parking lot', 'A car is now in loading bay 2.'],
    ['appear', 'a man in black is now standing at the upper left', 'A man in black is now standing in loading bay 2.'],
    ['appear', 'a car and a van are now parked on the road', 'A car and a van are now parked in loading bay 2.'],
    ['appear', 'a man in a red shirt has appeared', 'A man in a red shirt has appeared in loading bay 2.'],
    ['disappear', 'the man in black on the left is gone', 'The man in black in loading bay 2 is gone.'],
    ['disappear', 'the man on the left has left', 'The man in loading bay 2 has left.'],
    ['disappear', 'the two cars have left', 'The two cars in loading bay 2 have left.'],
    ['disappear', 'the bag by the door is no longer there', 'The bag in loading bay 2 is no longer there.'],
    ['disappear', 'the two bags have disappeared', 'The two bags in loading bay 2 have disappeared.'],
    [
      'replace',
      'the car in the middle has been replaced by a van',
      'The car in loading bay 2 has been replaced by a van.',
    ],
    [
      'replace',
      'a van has taken the place of the car by the wall',
      'A van has taken the place of the car in loading bay 2.',
    ],
    ['replace', 'there is a van on the road instead of the car', 'There is a van in loading bay 2 instead of the car.'],
    ['appear', 'something has appeared on the left', 'Something has appeared in loading bay 2.'],
    ['disappear', 'something has disappeared', 'Something in loading bay 2 has disappeared.'],
    ['replace', 'something has been replaced in the middle', 'Something has been replaced in loading bay 2.'],
  ])('%s: %s', (kind, caption, expected) => {
    expect(inBay(caption, kind)).toBe(expected);
  });

  it.each([
    ['bay', 'gate', 'the man has moved to the left', 'The man has moved from loading bay 2 to the gate.'],
    ['bay', 'gate', 'the box has been moved', 'The box has been moved from loading bay 2 to the gate.'],
    ['shed', 'gate', 'the car has driven closer', 'The car has driven from behind the shed to the gate.'],
    ['gate', 'gate', 'the man has walked slightly to the left', 'The man has walked slightly to the left at the gate.'],
    ['gate', 'gate', 'the bin has shifted towards the camera', 'The bin has shifted towards the camera at the gate.'],
    [null, 'gate', 'the man has moved further away', 'The man has moved to the gate.'],
    ['gate', null, 'the man has moved away from the camera', 'The man has moved from the gate.'],
    [null, null, 'the man has moved to the left', 'The man has moved to the left.'],
    ['bay', 'gate', 'something has moved on the right', 'Something has moved from loading bay 2 to the gate.'],
  ])('a move from %s to %s: %s', (from, to, caption, expected) => {
    expect(moved(caption, from, to)).toBe(expected);
  });

  it('stays as it is without a zone, without a name, and if its form is not known', () => {
    const caption = 'A van has appeared on the right.';
    const of = (zone: string | null) => namePlaces(caption, 'appear', [region('after', zone)], PHRASES);
    expect([of(null), of('yard'), of('constructor'), of('__proto__')]).toEqual(Array(4).fill(caption));
    for (const other of ['a van', '', 'a van has appeared and a car has left']) {
      expect(inBay(other, 'appear')).toBe(other);
    }
    expect(inBay('the camera is blocked', 'appear')).toBe('The camera is blocked.');
  });

  it('names the zone of the strongest region that lies in one', () => {
    const regions = [region('after', null), region('after', 'gate'), region('after', 'bay')];
    expect(namePlaces('a van has appeared', 'appear', regions, PHRASES)).toBe('A van has appeared at the gate.');
  });

  it('keeps every other word if the name itself is made of places and verbs', () => {
    const phrases = { odd: { at: 'in there is now on the left and has left', end: '' } };
    const caption = 'the man on the right is gone';
    expect(namePlaces(caption, 'disappear', [region('before', 'odd')], phrases)).toBe(
      'The man in there is now on the left and has left is gone.',
    );
  });
});
