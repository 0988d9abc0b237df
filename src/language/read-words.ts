/**
 * The reader of words in other languages than English: sentences that the tables wrote, and queries in their words,
 * become the English words of statements. Grammar is dropped; word order stays. Pure.
 */
import { LOCALES, type Locale } from './locales.js';
import { isList, keysOf, type Table, tableOf, wordOf } from './table.js';

export interface EnglishWords {
  readonly text: string;
  /** words as they were typed, with the English ones that took their place */
  readonly read: readonly { readonly word: string; readonly as: string }[];
  /** words of the text that the table has, grammar included; characters, if the language has no spaces */
  readonly known: number;
  readonly total: number;
}

/** The English word for the direction of a statement. */
const DIRECTIONS = { appear: 'appeared', disappear: 'gone', move: 'moved', replace: 'replaced' } as const;

/** Per language: folded words and phrases with their English ones; '' for grammar. */
const dictionaries = new Map<Locale, ReadonlyMap<string, string>>();

/** Lower case, without accents. */
const folded = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
const wordsOf = (text: string): string[] => folded(text).match(/[\p{L}\p{N}]+/gu) ?? [];

/** @param locale another one than English */
export function readWords(text: string, locale: Locale): EnglishWords {
  const table = tableOf(locale);
  const dictionary = dictionaries.get(locale) ?? dictionaryOf(table);
  dictionaries.set(locale, dictionary);
  const words = wordsOf(text);
  const pieces = isSpaced(table) ? words : words.flatMap((word) => [...word]);
  const separator = isSpaced(table) ? ' ' : '';
  const english: string[] = [];
  const read: { word: string; as: string }[] = [];
  let known = 0;
  let unknown = '';
  for (let i = 0; i < pieces.length; ) {
    let length = Math.min(LONGEST, pieces.length - i);
    while (length > 0 && !dictionary.has(pieces.slice(i, i + length).join(separator))) length--;
    const word = pieces.slice(i, i + Math.max(1, length)).join(separator);
    const as = length === 0 ? undefined : dictionary.get(word);
    if (as === undefined) unknown += (separator === '' ? '' : ' ') + word;
    else {
      english.push(unknown, as);
      unknown = '';
      known += length;
      if (as !== '' && as !== 'and') read.push({ word, as });
    }
    i += Math.max(1, length);
  }
  const parts = [...english, unknown].map((one) => one.trim());
  return { text: parts.filter(Boolean).join(' '), read, known, total: pieces.length };
}
/** Words of a phrase, or characters. */
const LONGEST = 12;

/** The table of a language without spaces removes them. */
const isSpaced = ({ spelling = [] }: Table): boolean => !spelling.some(([, to]) => to === '');

function dictionaryOf(table: Table): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (phrase: string, as: string): void => {
    const key = wordsOf(phrase).join(isSpaced(table) ? ' ' : '');
    if (key !== '' && !found.has(key)) found.set(key, as);
  };
  const addAll = (phrases: Iterable<string>, as: string): void => {
    for (const phrase of phrases) add(phrase, as);
  };
  for (const [noun, { one = noun, many = one, cases = {} }] of Object.entries(table.nouns)) {
    addAll([one, many, ...Object.values(cases)], noun);
  }
  for (const [noun, { also = [] }] of Object.entries(table.nouns)) addAll(also, noun);
  if (!isList(table.colours)) {
    const { garment = {}, ...endings } = table.endings ?? {};
    const ends = ['', ...textsOf(endings), ...textsOf(garment)];
    for (const [colour, forms] of Object.entries(table.colours)) {
      addAll(
        textsOf(forms).flatMap((form) => ends.map((end) => form + end)),
        colour,
      );
      addAll(textsOf(table.worn?.[colour] ?? []), colour);
    }
  }
  for (const [garment, { text = garment }] of Object.entries(table.garments)) add(text, garment);
  for (const list of [table.places, table.ways]) for (const key of keysOf(list)) add(wordOf(list, key), key);
  const { from, to } = table.visits;
  for (const [edge, phrase] of Object.entries(from)) add(phrase, `from the ${edge}`);
  for (const [edge, phrase] of Object.entries(to)) add(phrase, `to the ${edge}`);
  const counters = new Set(Object.values(table.nouns).map(({ counter = '' }) => counter));
  addAll(textsOf(table.articles), '');
  for (const [i, count] of table.counts.entries()) {
    const written = textsOf(count).flatMap((text) => [...counters].map((one) => text.replace('{counter}', one)));
    addAll(written, COUNTS[i] ?? '');
  }
  add(table.phrases.and, 'and');
  const { visits, phrases, agreement, spelling = [] } = table;
  addVerbs(table, add);
  const grammar = [visits, phrases, agreement].flatMap(textsOf).flatMap(literalsOf);
  addAll(
    grammar.flatMap((text) => [text, ...text.split(' ')]),
    '',
  );
  addAll(
    spelling.map(([, replacement]) => replacement.replace(/\$\d/g, '')),
    '',
  );
  if (isSpaced(table)) addAll('abcdefghijklmnopqrstuvwxyz', '');
  return found;
}
const COUNTS = tableOf('en').counts as readonly string[];

/** Words of the templates of one kind alone are its direction; the others are grammar. */
function addVerbs(table: Table, add: (phrase: string, as: string) => void): void {
  const kinds = new Map<string, Set<keyof typeof DIRECTIONS>>();
  for (const kind of Object.keys(DIRECTIONS) as (keyof typeof DIRECTIONS)[]) {
    for (const { text } of Object.values(table.sentences[kind] ?? {})) {
      const slots = [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => table.agreement[name] ?? []);
      // A preposition before the new thing is grammar: "durch", "par", "por".
      const literals = literalsOf(text.replace(/\S+ (?=\{new)/, ''));
      for (const phrase of [...slots.flatMap(textsOf), ...literals.flatMap((one) => [one, ...longWords(one)])]) {
        kinds.set(phrase, (kinds.get(phrase) ?? new Set()).add(kind));
      }
    }
  }
  for (const [phrase, [kind, ...others]] of kinds) add(phrase, kind && others.length === 0 ? DIRECTIONS[kind] : '');
}

/** The words of a phrase that may state something by themselves. */
const longWords = (phrase: string): string[] => phrase.split(' ').filter((word) => word.length >= LONG);
const LONG = 4;

/** The texts of a template outside of its slots. */
const literalsOf = (template: string): string[] =>
  template
    .split(/\{[^}]*\}|[[\]]/)
    .map((text) => text.trim())
    .filter((text) => text !== '');

const textsOf = (value: unknown): string[] =>
  typeof value === 'string'
    ? [value]
    : typeof value === 'object' && value !== null
      ? Object.values(value).flatMap(textsOf)
      : [];

/** The languages that `readWords` reads. */
export const FOREIGN: readonly Locale[] = LOCALES.filter((locale) => locale !== 'en');
