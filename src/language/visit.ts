/**
 * Sentences of visits: "A person in red came in from the right, stood on the left for 40 s and left to the left." If
 * others may have taken turns with the thing, they are counted together: "Several people passed between 08:00 and
 * 08:01."
 */
import type { Thing } from '../schemas/statement.js';
import type { VisitStatement } from '../schemas/visit-statement.js';
import type { Locale } from './locales.js';
import { type Table, tableOf, wordOf } from './table.js';
import { agreementOf, classOf, fill, type Slots, type Word, withComma, wordsOf, writeThing } from './thing.js';
import { writeTime } from './time.js';
import { sentenceOf, spelled } from './write.js';

export function writeVisit(statement: VisitStatement, locale: Locale = 'en'): string {
  const { thing, came, stayed, went, objects } = statement;
  const table = tableOf(locale);
  const { visits } = table;
  const slots = slotsOf(thing, table);
  const part = (template: string, place: string | null, more: Slots = {}): Word[] =>
    fill(template, { ...slots, place: placeWords(place, table), ...more }, 'verb');
  const edge = (words: Table['visits']['from'], at: VisitStatement['came']['edge']): Slots => ({
    edge: wordsOf(at === null ? '' : words[at], 'way'),
  });
  const kind = classOf(thing);
  const stay = visits.stayed[kind === 'person' || kind === 'vehicle' ? kind : 'other'];
  const time = (length: number): Slots => ({ time: wordsOf(writeTime(length, visits.time), 'verb') });
  // A place is not repeated, except at the end of a visit that has ended: there it states where the thing was last.
  const shown = came.how === 'appeared' ? came.place : null;
  const stood = stayed?.place === shown ? null : (stayed?.place ?? null);
  const isThere = went.how === 'still' || went.how === 'unseen';
  const last = isThere && went.place === (stayed?.place ?? shown) ? null : went.place;
  const parts =
    came.how === 'uncertain' || went.how === 'uncertain'
      ? [severalPassed(statement, table)]
      : [
          part(visits.came[came.how], shown, edge(visits.from, came.edge)),
          ...(stayed === null ? [] : [part(stay, stood, time(stayed.seconds))]),
          part(visits.went[went.how], last, edge(visits.to, went.edge)),
        ];
  const { and, lastly = and, also = '; ' } = table.phrases;
  const sentence = parts.flatMap((words, i) => [
    ...(i > 0 && i === parts.length - 1 ? wordsOf(lastly, 'link') : []),
    ...(i < parts.length - (lastly === '' ? 1 : 2) ? withComma(words, table) : words),
  ]);
  const left = objects.map(({ thing: object, value }) => fill(visits.object[value], slotsOf(object, table), 'verb'));
  const [first = '', ...further] = [sentence, ...left].map((words) => spelled(words, table));
  return sentenceOf([first, ...further].join(also), locale);
}

/** Their number, colours and ways are not known. */
function severalPassed({ thing, between, seconds }: VisitStatement, table: Table): Word[] {
  const { passed } = table.visits;
  const several = slotsOf({ ...thing, colour: null, count: null }, table);
  if (between === undefined) {
    return fill(passed.within, { ...several, time: wordsOf(writeTime(seconds, table.lasted), 'verb') }, 'verb');
  }
  const [from, to] = [wordsOf(between.from, 'verb'), wordsOf(between.to, 'verb')];
  return fill(between.from === between.to ? passed.at : passed.between, { ...several, from, to }, 'verb');
}

const slotsOf = (thing: Thing, table: Table): Slots => ({
  ...agreementOf([thing], table),
  a: writeThing(thing, 0, 'nom', table),
});

const placeWords = (place: string | null, { places }: Table): Word[] =>
  wordsOf(place === null ? '' : wordOf(places, place), 'place');
