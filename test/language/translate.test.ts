/** Sentences of stored answers in other languages, and words of other languages in English. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LOCALES } from '../../src/language/locales.js';
import { readStatement } from '../../src/language/read-clauses.js';
import { isList, tableOf } from '../../src/language/table.js';
import { acceptedLocale, translated } from '../../src/language/translate.js';
import { writeVisit } from '../../src/language/visit.js';
import { write, writeContent } from '../../src/language/write.js';
import type { Statement } from '../../src/schemas/statement.js';
import { itemsOf } from '../../src/search/analysis.js';
import { inEnglish } from '../../src/search/foreign.js';
import { statements, visits } from './sampled.js';

const RUNS = { numRuns: 200, seed: 41 };
const changes = fc.sample(statements, RUNS);
const stays = fc.sample(visits, RUNS);
const lettersOf = (text: string): string[] => text.match(/\p{L}+/gu) ?? [];
const conceptsOf = (text: string): string[] => [
  ...new Set(
    itemsOf(text).flatMap(({ concept }) => (concept === undefined ? [] : [`${concept.kind} ${concept.name}`])),
  ),
];

describe.each(LOCALES.filter((locale) => locale !== 'en'))('400 varied sentences in %s', (locale) => {
  const table = tableOf(locale);
  const sampled = [
    ...changes.map((one) => ({ original: write(one), sentence: write(one, { locale }) })),
    ...stays.map((one) => ({ original: writeVisit(one), sentence: writeVisit(one, locale) })),
  ];

  it('have words of the table alone, in its spelling, and no empty slot or double space', () => {
    const { nouns, colours, places, ways, sentences, visits: parts, agreement, articles, counts, phrases } = table;
    const values = [Object.values(nouns), Object.values(colours), Object.values(places), Object.values(ways)];
    const text = JSON.stringify([
      values,
      sentences,
      parts,
      agreement,
      articles,
      counts,
      phrases,
      table.worn,
      table.lasted,
    ]);
    // German colours take endings, and articles of other languages are contracted.
    const ending = '(?:e[mnrs]?)?';
    const known = new Set([...lettersOf(text), ...lettersOf(JSON.stringify(table.spelling ?? []))]);
    const isListed = (word: string) => known.has(word) || known.has(word.replace(new RegExp(`${ending}$`), ''));
    // A sentence begins with a capital letter.
    const isKnown = (word: string) =>
      isListed(word) || isListed(word.charAt(0).toLocaleLowerCase(locale) + word.slice(1));
    for (const { sentence } of sampled) {
      const unknown = locale === 'ja' ? [] : lettersOf(sentence).filter((word) => !isKnown(word));
      expect({ sentence, unknown }).toEqual({ sentence, unknown: [] });
      expect(sentence).not.toMatch(/[{}[\]]|undefined| {2}|^ | $| [,;]|\bde les?\b|\bde el\b/u);
      expect(sentence).toMatch(/^[^\p{Ll}].*[^.。][.。]$/u);
      if (locale === 'fr') expect(sentence).not.toMatch(/(?<!\p{L})l[ea] [aeéio]/u);
      if (locale === 'ja') expect(sentence).not.toMatch(/[ a-z]/);
    }
  });

  it('state the things, colours and direction of the English ones', () => {
    for (const [i, { original, sentence }] of sampled.entries()) {
      const read = conceptsOf(inEnglish(sentence).text);
      const isStated = (one: string) => !one.startsWith('direction');
      expect({ sentence, read: read.filter(isStated).sort() }).toEqual({
        sentence,
        read: conceptsOf(original).filter(isStated).sort(),
      });
      // The sentence of a visit states a coming and a going, which the search ignores.
      const expected = i < changes.length ? conceptsOf(original) : [];
      expect({ sentence, read }).toMatchObject({ read: expect.arrayContaining(expected) });
    }
  });

  it('agree in gender and number with the subject', () => {
    const { genders = [], agreement, nouns } = table;
    const inflected = Object.entries(agreement).filter(([, forms]) => forms.length === 2 * genders.length);
    for (const [noun, { gender = '' }] of Object.entries(nouns)) {
      for (const [count, offset] of [
        [1, 0],
        [3, genders.length],
      ] as const) {
        const things = [{ noun, colour: 'white', count, definite: true }];
        for (const [verb, { text, of }] of Object.entries(table.sentences.disappear ?? {})) {
          if (of !== undefined) continue;
          const statement = { kind: 'disappear', verb, things, place: null, way: null } as const;
          const forms = inflected.filter(([name]) => text.includes(`{${name}}`));
          for (const [, all] of forms) {
            expect(write(statement, { locale })).toContain(all[genders.indexOf(gender) + offset]);
          }
        }
        const white = isList(table.colours) ? undefined : table.colours.white;
        if (!Array.isArray(white) || nouns[noun]?.gender === undefined || /some/.test(noun)) continue;
        if (tableOf('en').nouns[noun]?.class === 'person') continue;
        const written = write({ kind: 'move', verb: 'moved', things, place: null, way: null }, { locale });
        expect(lettersOf(written)).toContain(white[genders.indexOf(gender) + offset]);
      }
    }
  });
});

describe('an answer in another language', () => {
  const statement = readStatement('a red car has appeared on the left') as Statement;
  const at = (place: Parameters<typeof write>[1]) => ({ caption: write(statement, place), content: statement });
  const moved = readStatement('the car has moved to the left') as Statement;

  it.each([
    ['de', 'Ein rotes Auto ist links aufgetaucht.'],
    ['es', 'Un coche rojo ha aparecido a la izquierda.'],
    ['fr', 'Une voiture rouge est apparue à gauche.'],
    ['ja', '左側に赤い車が現れました。'],
  ] as const)('has its sentences in %s', (locale, caption) => {
    const located = { text: write(statement), content: statement, kind: 'appear' };
    const comparison = {
      caption: write(statement),
      content: { statements: [statement], more: 1 },
      statements: [located],
    };
    const answer = translated({ items: [{ id: 'chg_1', ...at({}) }, comparison], next_cursor: null }, locale);
    expect(answer).toMatchObject({ items: [{ caption }, { statements: [{ text: caption }] }], next_cursor: null });
    expect(answer.items[1]?.caption).toBe(writeContent(comparison.content, locale));
  });

  it.each([
    [
      'de',
      'Ein rotes Auto ist im Bereich „loading bay 2“ aufgetaucht.',
      'Das Auto hat sich von „bay $1“ nach „the gate“ bewegt.',
    ],
    [
      'es',
      'Un coche rojo ha aparecido en la zona «loading bay 2».',
      'El coche se ha movido desde la zona «bay $1» hasta la zona «the gate».',
    ],
    [
      'fr',
      'Une voiture rouge est apparue dans la zone « loading bay 2 ».',
      'La voiture s’est déplacée depuis la zone « bay $1 » vers la zone « the gate ».',
    ],
    ['ja', '「loading bay 2」に赤い車が現れました。', '車が「bay $1」から「the gate」へ移動しました。'],
  ] as const)('names zones in %s', (locale, inZone, between) => {
    expect(translated(at({ place: 'in loading bay 2' }), locale).caption).toBe(inZone);
    const caption = write(moved, { place: { from: 'bay $1', to: 'the gate' } });
    expect(translated({ caption, content: moved }, locale).caption).toBe(between);
  });

  it('keeps the sentences of people and of other grammars', () => {
    const given = { caption: 'the cube became a sphere', content: statement, feedback: { caption: 'a van came' } };
    expect(translated(given, 'de')).toEqual(given);
    expect(translated({ caption: 'the cube became a sphere' }, 'fr')).toEqual({ caption: 'the cube became a sphere' });
  });

  it.each([
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['pt-BR, fr;q=0.4, es;q=0.5', 'es'],
    ['ja;q=0, en-GB', 'en'],
    ['nl, *;q=0.1', 'en'],
    ['nl', undefined],
    ['', undefined],
    [';;q=x,,', undefined],
  ])('is in the first accepted language that has a table: "%s"', (header, locale) => {
    expect(acceptedLocale(header)).toBe(locale);
  });
});

describe('a query', () => {
  it.each([
    ['rote Autos', 'red car'],
    ['coche rojo a la izquierda', 'car red on the left'],
    ['une voiture a disparu', 'car gone'],
    ['赤い服の人物', 'red person'],
    ['furgoneta en Loading Bay', 'van loading bay'],
    ['Person Mensch Mann Frau Auto Fahrrad Hund Kiste Karton', 'person person man woman car bicycle dog box box'],
    ['persona hombre mujer coche carro bicicleta perro caja', 'person man woman car car bicycle dog box'],
    ['personne homme femme voiture bicyclette chien boîte carton', 'person man woman car bicycle dog box box'],
    ['人 男 女 車 自動車 自転車 犬 箱', 'person man woman car car bicycle dog box'],
    ['3人の男性', 'three man'],
    ['人が現れました', 'person appeared'],
  ])('in another language is searched in English: "%s"', (query, text) => {
    expect(inEnglish(query).text).toBe(text);
  });

  it.each(['red van', 'bus', 'a person in red', 'automobile', 'loading bay', 'die van', ''])(
    'in English stays: "%s"',
    (query) => expect(inEnglish(query)).toEqual({ text: query, read: [] }),
  );
});
