/** How a sentence calls a zone. */
import { describe, expect, it } from '@jest/globals';
import { checkSettings, type Zone } from '../../../src/camera/settings/settings.js';
import { zonePhrase } from '../../../src/camera/settings/zone-phrase.js';

const triangle = [
  [0, 0],
  [1, 0],
  [0, 1],
];
const checked = (zone: object): Zone =>
  checkSettings({ zones: [{ id: 'a', type: 'include', polygon: triangle, ...zone }] }).zones[0] as Zone;
const called = (name: string | null, preposition?: string | null) =>
  zonePhrase(checked({ name, ...(preposition === undefined ? {} : { preposition }) }));

describe('the phrase of a zone', () => {
  it.each([
    ['loading bay 2', 'in loading bay 2'],
    ['the north gate', 'at the north gate'],
    ['platform 3', 'on platform 3'],
    ['Platform 3b', 'on Platform 3b'],
    ['car park', 'in car park'],
    ['the car park', 'in the car park'],
    ['Car Park North', 'in Car Park North'],
    ['gate house', 'in gate house'],
    ['gate to the yard', 'at gate to the yard'],
    ['entrance of the hall', 'at entrance of the hall'],
    ['Gate-3', 'at Gate-3'],
    ['gate (north side)', 'in gate (north side)'],
    ['Dock A', 'in Dock A'],
    ['the roof', 'on the roof'],
    ['Lager Süd', 'in Lager Süd'],
    ['倉庫', 'in 倉庫'],
    ['7', 'in 7'],
    ['left', 'in left'],
  ])('of %j is its name as it is written, with the preposition of its head noun', (name, at) => {
    expect(called(name)).toEqual({ at, end: name });
  });

  it.each([
    ['at the gate', 'at the gate', 'the gate'],
    ['At the Gate', 'at the Gate', 'the Gate'],
    ['In front of the shed', 'in front of the shed', 'in front of the shed'],
    ['on top of the wall', 'on top of the wall', 'on top of the wall'],
    ['behind Building 7', 'behind Building 7', 'behind Building 7'],
    ['Outside', 'outside', 'outside'],
    ['Inn Street', 'on Inn Street', 'Inn Street'],
    ['Overhead belt', 'in Overhead belt', 'Overhead belt'],
  ])('takes the preposition that the name begins with: %j', (name, at, end) => {
    expect(called(name)).toEqual({ at, end });
  });

  it.each([
    ['shed', 'behind', 'behind shed', 'behind shed'],
    ['the north gate', 'in front of', 'in front of the north gate', 'in front of the north gate'],
    ['Over Street', 'in', 'in Over Street', 'Over Street'],
    ['upstairs', '', 'upstairs', 'upstairs'],
  ])('takes the preposition of the zone before any other: %j, %j', (name, preposition, at, end) => {
    expect(called(name, preposition)).toEqual({ at, end });
  });

  it('keeps everything of a name but spaces that show nothing', () => {
    expect(called(' loading  bay 2 ')?.at).toBe('in loading bay 2');
    expect(called('<img src=x onerror=alert(1)>')?.at).toBe('in <img src=x onerror=alert(1)>');
    expect(called('x'.repeat(128))?.at).toBe(`in ${'x'.repeat(128)}`);
  });

  it('is missing without a name that has a letter or a digit', () => {
    for (const name of [null, '', '  ', '---', '\u200b']) expect(called(name)).toBeNull();
  });

  it.each([['In'], ['at the'.repeat(6)], ['in <b>'], ['a b c d'], [' in']])(
    'cannot have the preposition %j',
    (preposition) => {
      expect(() => checked({ name: 'gate', preposition })).toThrow(/zones\/0\/preposition/);
    },
  );
  it.each(['loading\n bay', 'bay \u202e2', '\u0000'])('cannot come from the name %j', (name) => {
    expect(() => checked({ name })).toThrow(/zones\/0\/name/);
  });
  it('cannot be longer than 128 characters', () => {
    expect(() => checked({ name: 'x'.repeat(129) })).toThrow(/zones\/0\/name/);
  });
});
