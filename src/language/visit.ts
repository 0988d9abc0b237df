/** Sentences of visits: "a person in red came in from the right, stood on the left for 40 s and left to the left". */
import type { Thing } from '../schemas/statement.js';
import type { VisitStatement } from '../schemas/visit-statement.js';
import { type Locale, type Table, tableOf, wordOf } from './table.js';
import { classOf, fill, type Word, withComma, wordsOf, writeThing } from './thing.js';
import { textOf } from './write.js';

type Slots = Readonly<Record<string, readonly Word[]>>;

export function writeVisit(statement: VisitStatement, locale: Locale = 'en'): string {
  const { thing, came, stayed, went, objects, uncertain = false } = statement;
  const table = tableOf(locale);
  const { visits } = table;
  const slots = slotsOf(thing, table);
  const part = (template: string, place: string | null, more: Slots = {}): Word[] =>
    fill(template, { ...slots, place: placeWords(place, table), ...more }, 'verb');
  const edge = (words: Table['visits']['from'], at: VisitStatement['came']['edge']): Slots => ({
    edge: wordsOf(at === null ? '' : words[at], 'way'),
  });
  const kind = classOf(thing, table);
  const stay = visits.stayed[kind === 'person' || kind === 'vehicle' ? kind : 'other'];
  const parts = [
    part(visits.came[came.how], came.how === 'appeared' ? came.place : null, edge(visits.from, came.edge)),
    ...(stayed === null ? [] : [part(stay, stayed.place, { time: wordsOf(timeOf(stayed.seconds, table), 'verb') })]),
    part(visits.went[went.how], went.place, edge(visits.to, went.edge)),
  ];
  const sentence = parts.flatMap((words, i) => [
    ...(i > 0 && i === parts.length - 1 ? wordsOf(table.phrases.and, 'link') : []),
    ...(i < parts.length - 2 ? withComma(words) : words),
  ]);
  const left = objects.map(({ thing: object, value }) => fill(visits.object[value], slotsOf(object, table), 'verb'));
  const doubt = uncertain ? wordsOf(visits.uncertain, 'verb') : [];
  return [[...sentence, ...doubt], ...left].map(textOf).join('; ');
}

function slotsOf(thing: Thing, { agreement, ...table }: Table): Slots {
  const plural = (thing.count ?? 2) > 1;
  const agreeing = Object.entries(agreement).map(([name, [one, many]]) => [name, wordsOf(plural ? many : one, 'verb')]);
  return { ...Object.fromEntries(agreeing), a: writeThing(thing, 0, 'nom', { agreement, ...table }) };
}

const placeWords = (place: string | null, { places }: Table): Word[] =>
  wordsOf(place === null ? '' : wordOf(places, place), 'place');

function timeOf(seconds: number, { visits: { time } }: Table): string {
  const written = (template: string, n: number) => template.replace('{n}', String(Math.round(n)));
  if (seconds < 120) return written(time.s, seconds);
  return seconds < 7200 ? written(time.min, seconds / 60) : written(time.h, seconds / 3600);
}
