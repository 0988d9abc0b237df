/** The sentences of severity rules: readings and refusals. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkSettings } from '../../src/camera/settings/settings.js';
import { NOUNS } from '../../src/language/people/nouns.js';
import { readRuleSentence } from '../../src/language/people/rule-sentence.js';

type ZoneType = 'include' | 'ignore';
const zone = (id: string, name: string | null, type: ZoneType = 'include') => ({ id, name, type });
const ZONES = [
  zone('gate', 'gate'),
  zone('bay', 'Loading bay 2'),
  zone('shed', 'behind the shed'),
  zone('bay2', 'bay 2'),
  zone('road', 'road', 'ignore'),
  zone('unnamed', null),
];
const said = (sentence: string) => {
  const read = readRuleSentence(sentence, ZONES);
  if ('fault' in read) throw new Error(read.fault);
  return read.said;
};
const faultOf = (sentence: string): string => {
  const read = readRuleSentence(sentence, ZONES);
  return 'fault' in read ? read.fault : 'none';
};
const faultOfSettings = (settings: unknown): unknown => {
  try {
    return checkSettings(settings);
  } catch (thrown) {
    return thrown;
  }
};
const thing = (noun: string | null, colour: string | null = null) => ({ noun, colour });

describe('the sentence of a rule', () => {
  it.each([
    ['a vehicle has appeared at the gate', [thing('vehicle')], 'appear', ['gate']],
    ['A Red Lorry has arrived.', [thing('truck', 'red')], 'appear', null],
    ['a person or a dark blue car has left', [thing('person'), thing('car', 'dark blue')], 'disappear', null],
    ['a van, a bus or a truck has moved', [thing('van'), thing('bus'), thing('truck')], 'move', null],
    ['people are gone', [thing('person')], 'disappear', null],
    ['the bag is no longer there', [thing('bag')], 'disappear', null],
    ['a bag has been left behind in loading bay 2', [thing('bag')], 'object_left', ['bay']],
    ['a suitcase has been left', [thing('suitcase')], 'object_left', null],
    ['a box has been taken away', [thing('box')], 'object_removed', null],
    ['a car has been replaced', [thing('car')], 'replace', null],
    ['something has appeared behind the shed', [thing(null)], 'appear', ['shed']],
    ['anyone in the gate', [thing('person')], null, ['gate']],
    ['a person in a red jacket has appeared', [thing('person', 'red')], 'appear', null],
    ['someone', [thing('person')], null, null],
    ['a car is there now', [thing('car')], 'appear', null],
    ['a person walked away', [thing('person')], 'disappear', null],
    ['a person has walked', [thing('person')], 'move', null],
    ['a parcel has been delivered', [thing('box')], 'appear', null],
    ['a lorry has parked in bay 2', [thing('truck')], 'appear', ['bay2']],
    ['a car came and left', [thing('car')], 'visit', null],
    ['a red car or a van has come and gone at the gate', [thing('car', 'red'), thing('van')], 'visit', ['gate']],
  ] as const)('%s', (sentence, things, kind, zones) => {
    expect(said(sentence)).toEqual({ things, kind, zones });
  });

  it.each([
    ['a person stays longer than 60 s in bay 2', 60, ['bay2']],
    ['a person has stayed in loading bay 2 for more than 2 minutes', 120, ['bay']],
    ['anyone has stood at the gate for longer than 1.5 h', 5400, ['gate']],
    ['a person is there for longer than 10 s', 10, null],
  ] as const)('with a duration is about a stay: %s', (sentence, seconds, zones) => {
    expect(said(sentence)).toEqual({ things: [thing('person')], kind: 'stay', seconds, zones });
  });

  it.each(['a person has left for longer than 60 s', 'a person longer than 60 s'])(
    'with a duration and without a stay is refused: %s',
    (sentence) => expect(faultOf(sentence)).toContain('expected one such as "a person has stayed longer than 60 s"'),
  );

  it('about visits stands beside no kind, area or probability', () => {
    const rule = { when: 'a person has stayed longer than 60 s', severity: 'high' };
    const settings = (given: object) => faultOfSettings({ alerts: { severity_rules: [{ ...rule, ...given }] } });
    expect(settings({ during: [{ days: ['mon'], from: '01:00', to: '04:00' }] })).not.toBeInstanceOf(Error);
    for (const beside of [{ kind: 'appear' }, { min_area: 0.1 }, { when_probability: 0.9 }]) {
      expect(String(settings(beside))).toContain('is about visits');
    }
  });

  it('names all zones of one name, and of two names that fit the longer one', () => {
    expect(readRuleSentence('a car at the door', [zone('a', 'Door'), zone('b', 'door'), zone('c', 'x')])).toEqual({
      said: { things: [thing('car')], kind: null, zones: ['a', 'b'] },
    });
    expect(said('a car in loading bay 2').zones).toEqual(['bay']);
    expect(said('a car in bay 2').zones).toEqual(['bay2']);
  });

  it('is read or refused whatever comes, with every thing, kind and zone from the words', () => {
    const words =
      'a the red dark car people bag or in at , has been left appeared gate behind shed is . ( [ \\ 7'.split(' ');
    const sentences = fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 5 })), { maxLength: 40 });
    fc.assert(
      fc.property(sentences, (parts) => {
        const read = readRuleSentence(parts.join(' '), ZONES);
        if ('fault' in read) return read.fault.includes('expected one such as');
        const { things, zones } = read.said;
        return things.length > 0 && (zones === null || zones.length > 0);
      }),
    );
  });

  it('may name every noun of the lexicon', () => {
    for (const noun of Object.keys(NOUNS)) {
      expect(said(`a ${noun} has appeared`)).toEqual({ things: [thing(noun)], kind: 'appear', zones: null });
    }
  });

  it.each([
    ['a man with a gun has appeared', 'has the words "with", "gun"'],
    ['a car and a person have appeared', 'has the thing "a car and a person"'],
    ['no car has appeared', 'has the thing "no car"'],
    ['two cars have appeared', 'has the word "two"'],
    ['a car has appeared on the road', 'is "a car has appeared on the road"'],
    ['a car has appeared at the window', 'has the word "window"'],
    ['ein auto ist da', 'has the words "ein", "auto", "ist", "da"'],
    ['it rains', 'has the words "it", "rains"'],
    ['has appeared', 'is not known'],
    ['🚗', 'is "🚗"'],
    [' ', 'is " "'],
    ['a car or has appeared', 'has the thing "a car or"'],
    ['constructor has appeared', 'has the thing "constructor"'],
  ])('%s is refused, because every word must be known', (sentence, fault) => {
    expect(faultOf(sentence)).toContain(fault);
    expect(faultOf(sentence)).toContain('expected one such as "a person or a red car has appeared at NAME OF A ZONE"');
  });
});

describe('settings with the sentence of a rule', () => {
  const polygon = [[0, 0] as [number, number], [1, 0] as [number, number], [1, 1] as [number, number]];
  const settings = (when: string) => ({
    zones: [{ id: 'z', name: 'the yard', type: 'include', polygon }],
    alerts: { severity_rules: [{ severity: 'low' }, { when, severity: 'high' }] },
  });

  it('are accepted as they are written', () => {
    const [, rule] = checkSettings(settings('a truck has left from the yard')).alerts.severity_rules;
    expect(rule).toEqual({ when: 'a truck has left from the yard', severity: 'high' });
  });

  it.each([
    ['a truck has left the moon', 'invalid-value'],
    ['', 'invalid-request'],
    ['a car '.repeat(40), 'invalid-request'],
  ])('name the rule if the sentence cannot be read: %s', (when, code) => {
    expect(faultOfSettings(settings(when))).toMatchObject({ code, field: 'alerts/severity_rules/1/when' });
  });

  it('are refused if they have a probability without a sentence', () => {
    const alerts = { severity_rules: [{ when_probability: 0.7, severity: 'high' }] };
    expect(faultOfSettings({ alerts })).toMatchObject({ field: 'alerts/severity_rules/0/when_probability' });
  });
});
