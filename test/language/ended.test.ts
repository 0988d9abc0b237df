/** Sentences about the end of a change, and about visits of things that look alike, in each language. */
import { describe, expect, it } from '@jest/globals';
import { endedSentence } from '../../src/language/ended.js';
import { readStatement } from '../../src/language/read-clauses.js';
import { translated } from '../../src/language/translate.js';
import { writeVisit } from '../../src/language/visit.js';
import { write } from '../../src/language/write.js';
import type { Statement } from '../../src/schemas/statement.js';
import type { VisitStatement } from '../../src/schemas/visit-statement.js';

const changeOf = (sentence: string, place?: string) => {
  const content = readStatement(sentence) as Statement;
  return { kind: content.kind, caption: write(content, { place }), content };
};

describe('the end of a change', () => {
  it.each([
    ['en', 'The two people in black on the right have gone, after 3 minutes.'],
    ['de', 'Die zwei Personen in Schwarz rechts sind nach 3 Minuten wieder weg.'],
    ['fr', 'Les deux personnes en noir qui étaient à droite ne sont plus là au bout de 3 minutes.'],
    ['es', 'Las dos personas de negro que estaban a la derecha ya no están, tras 3 minutos.'],
    ['ja', '3分後、右側の黒い服の人物2人がいなくなりました。'],
  ] as const)('says what is true since then: %s', (locale, expected) => {
    const people = changeOf('two people in black have appeared on the right');
    expect(translated(endedSentence(people, 180), locale).caption).toBe(expected);
  });

  it.each([
    ['the red car on the left has left', 7200, 'The red car is back on the left, after 2 hours.'],
    ['the chair has moved to the left', 60, 'The chair has moved back, after 1 minute.'],
    ['the car on the left has been replaced by a van', 40, 'The car is back on the left, after 40 seconds.'],
    ['the truck on the left has changed', 200_000, 'The truck on the left is as before, after 2 days.'],
    ['something has changed on the left', null, 'Everything on the left is as before.'],
    ['the camera is blocked', 90, 'The camera shows its scene again, after 90 seconds.'],
    ['a bag has been left at the gate', 0.2, 'The bag at the gate has gone, after 1 second.'],
  ] as const)('of "%s" after %p s', (sentence, seconds, expected) => {
    const place = sentence.endsWith('at the gate') ? 'at the gate' : undefined;
    const stated = changeOf(sentence.replace(' at the gate', ''), place);
    expect(endedSentence(stated, seconds).caption).toBe(expected);
  });

  it.each([
    ['de', 'Die Person in Rot im Bereich „Gate 3“ ist nach 3 Minuten wieder weg.'],
    ['es', 'La persona de rojo que estaba en la zona «Gate 3» ya no está, tras 3 minutos.'],
  ] as const)('names the zone: %s', (locale, expected) => {
    const inZone = changeOf('a person in red has appeared on the left', 'at Gate 3');
    expect(translated(endedSentence(inZone, 180), locale).caption).toBe(expected);
  });

  it('is in the words of a person who corrected the sentence, as far as they are read', () => {
    const change = changeOf('a car has appeared on the left');
    const corrected = (caption: string) => endedSentence({ ...change, feedback: { caption } }, null).caption;
    expect(corrected('A white van has appeared.')).toBe('The white van has gone.');
    expect(corrected('Our own delivery, as every day!')).toBe('Everything is as before.');
    expect(endedSentence({ kind: 'appear', caption: 'The cube became a sphere.' }, null).caption).toBe(
      'Something has gone.',
    );
  });
});

describe('a visit that may be one of several', () => {
  const unknown = { how: 'uncertain', edge: null, place: null } as const;
  const visit: VisitStatement = {
    thing: { noun: 'person', colour: 'red', count: 1, definite: false },
    ...{ came: unknown, stayed: null, went: unknown, objects: [], seconds: 61 },
    between: { from: '08:00', to: '08:01' },
  };
  it.each([
    ['en', 'Several people passed between 08:00 and 08:01.'],
    ['de', 'Zwischen 08:00 und 08:01 kamen mehrere Personen vorbei.'],
    ['fr', 'Plusieurs personnes sont passées entre 08:00 et 08:01.'],
    ['es', 'Entre las 08:00 y las 08:01 pasaron varias personas.'],
    ['ja', '08:00から08:01の間に数人の人物が通りました。'],
  ] as const)('counts them together: %s', (locale, expected) => expect(writeVisit(visit, locale)).toBe(expected));

  it('says the minute if it is one, and how long it was if no clock is known', () => {
    const car = { ...visit, thing: { ...visit.thing, noun: 'car' } };
    expect(writeVisit({ ...car, between: { from: '08:00', to: '08:00' } })).toBe('Several cars passed at 08:00.');
    const { between: _none, ...rest } = car;
    expect(writeVisit(rest)).toBe('Several cars passed within 61 seconds.');
  });
});
