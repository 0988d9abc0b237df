/** The 200 statements whose sentences are read in each language (scripts/write-sentences.mjs): what they cover. */
import { resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { LOCALES } from '../../src/language/locales.js';
import { keysOf, tableOf } from '../../src/language/table.js';
import { sentenceIn } from '../../src/language/translate.js';
import { write } from '../../src/language/write.js';
import type { Content, Statement, Thing } from '../../src/schemas/statement.js';
import type { VisitStatement } from '../../src/schemas/visit-statement.js';

type Covering = Statement | Content | VisitStatement;
const english = tableOf('en');
const { coveringStatements } = (await import(resolve('scripts/lib/covering.mjs'))) as {
  coveringStatements(table: typeof english): Covering[];
};
const all = coveringStatements(english);
const changes = all.filter((one): one is Statement => 'verb' in one);
const visits = all.filter((one): one is VisitStatement => 'came' in one);
const things = [...changes.flatMap((one) => one.things), ...visits.map(({ thing }) => thing)];

describe('the 200 statements', () => {
  it('differ in every language', () => {
    expect(all).toHaveLength(200);
    for (const locale of LOCALES) {
      const sentences = all.map((one) => ('verb' in one ? write(one, { locale }) : sentenceIn('', one, locale)));
      expect([locale, new Set(sentences).size]).toEqual([locale, 200]);
    }
  });

  const missing = (wanted: readonly string[], found: readonly (string | null | undefined)[]) =>
    wanted.filter((one) => !found.includes(one));
  const of = (read: (thing: Thing) => string | null | undefined) => things.map(read);
  it.each<[string, readonly string[], readonly (string | null | undefined)[]]>([
    ['noun in the singular', Object.keys(english.nouns), of(({ noun, count }) => (count === 1 ? noun : null))],
    ['noun in the plural', Object.keys(english.nouns), of(({ noun, count }) => (count === 1 ? null : noun))],
    ['colour', keysOf(english.colours), of(({ colour }) => colour)],
    ['count', ['1', '2', '3', '4', '5', 'null'], of(({ count }) => String(count))],
    ['garment', ['shirt', 'jacket', 'coat', 'top'], of(({ garment }) => garment)],
    ['place', keysOf(english.places), changes.map(({ place }) => place)],
    ['way', keysOf(english.ways), changes.map(({ way }) => way)],
    [
      'template',
      Object.entries(english.sentences).flatMap(([kind, verbs]) => Object.keys(verbs).map((verb) => `${kind} ${verb}`)),
      changes.map(({ kind, verb }) => `${kind} ${verb}`),
    ],
    ['coming', ['there', 'edge', 'appeared', 'uncertain'], visits.map(({ came }) => came.how)],
    ['going', ['edge', 'gone', 'still', 'unseen', 'uncertain'], visits.map(({ went }) => went.how)],
    ['object', ['object_left', 'object_removed'], visits.flatMap(({ objects }) => objects.map(({ value }) => value))],
  ])('have every %s', (_what, wanted, found) => {
    expect(missing(wanted, found)).toEqual([]);
  });

  it('have the accusative of each German gender, in the singular and in the plural, with a colour', () => {
    const german = tableOf('de');
    const genderOf = ({ noun, count }: Thing) => (count === 1 ? (german.nouns[noun]?.gender ?? '') : 'many');
    const withCase = changes.flatMap(({ verb, things: [old, next] }) => {
      if (old === undefined || next === undefined) return [];
      if (verb === 'replaced') return [`new ${genderOf(next)} ${next.colour !== null}`];
      return ['taken the place', 'instead'].includes(verb) ? [`old ${genderOf(old)} ${old.colour !== null}`] : [];
    });
    const wanted = [
      ...['m', 'f', 'n'].flatMap((gender) => [`new ${gender} true`, `old ${gender} true`]),
      'old many true',
    ];
    expect(missing(wanted, withCase)).toEqual([]);
  });
});
