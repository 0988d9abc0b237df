/** The noun phrase of a thing: "a red car", "the two people in dark clothes", "ein rotes Auto". */
import type { Statement, Thing } from '../schemas/statement.js';
import { type Case, type Forms, type Gender, type Inflected, isList, type Table, tableOf } from './table.js';

/** The part of a statement that a word is about. `link`: "and"; `phrase`: articles, counts and clothes of a thing. */
export type Role = 'noun' | 'colour' | 'verb' | 'place' | 'way' | 'link' | 'phrase' | 'part';

/** A word of a written sentence. */
export interface Word {
  readonly text: string;
  readonly role: Role;
  /** position of its thing among those of the statement; null: the word belongs to none */
  readonly thing: number | null;
}

/** A thing without a known name. */
export const SOMETHING = 'something';

const english = tableOf('en');

export const classOf = ({ noun }: Pick<Thing, 'noun'>): string => english.nouns[noun]?.class ?? 'object';

/** @param at position of the thing among those of its statement */
export function writeThing(thing: Thing, at: number, form: Case, table: Table): Word[] {
  const { colour, count, definite } = thing;
  const entry = table.nouns[thing.noun] ?? {};
  const one = entry.cases?.[form] ?? entry.one ?? thing.noun;
  const noun = count === 1 ? one : (entry.many ?? entry.one ?? `${thing.noun}s`);
  if (english.nouns[thing.noun]?.bare && count === 1) return wordsOf(noun, 'noun', at);
  const number: Number = { gender: genderOf(thing, table), plural: count !== 1 };
  const wears = classOf(thing) === 'person';
  const garment = wears && count === 1 && colour !== null ? (thing.garment ?? null) : null;
  const phrase = colour === null || !wears ? 'plain' : garment === null ? 'worn' : 'dressed';
  const article = definite ? table.articles.definite : count === 1 ? table.articles.indefinite : '';
  const determiner = definite ? 'definite' : 'indefinite';
  const ending = formOf(table.endings?.[determiner] ?? '', form, number, table);
  const adjective = colour === null ? '' : `${colourIn(colour, 'stem', number, table)}${ending}`;
  const slots: Readonly<Record<string, readonly Word[]>> = {
    article: wordsOf(formOf(article, form, number, table), 'phrase', at),
    count: count === 1 ? [] : wordsOf(countWord(count, thing, definite, table), 'phrase', at),
    colour: wordsOf(adjective, 'colour', at),
    worn: colour === null ? [] : wornWords(colour, at, table),
    noun: wordsOf(noun, 'noun', at),
    ...(garment === null || colour === null ? {} : garmentSlots(garment, colour, at, table)),
  };
  return beforeVowels(fill(table.phrases[phrase], slots, 'phrase', at), table);
}

function garmentSlots(garment: string, colour: string, at: number, table: Table) {
  const { text = garment, gender = 'n' } = table.garments[garment] ?? {};
  const ending = table.endings?.garment[gender] ?? '';
  const worn = { gender, plural: false };
  return {
    garment: wordsOf(text, 'phrase', at),
    garment_article: wordsOf(formOf(table.articles.indefinite, 'nom', worn, table), 'phrase', at),
    garment_colour: wordsOf(`${colourIn(colour, 'stem', worn, table)}${ending}`, 'colour', at),
  };
}

/** "red", or the clothes of a colour that has no name as clothes: "dark clothes". */
function wornWords(colour: string, at: number, table: Table): Word[] {
  const worn = table.worn?.[colour] ?? colourIn(colour, 'base', { gender: 'm', plural: false }, table);
  const words = new Set(colour.split(' '));
  return worn
    .split(' ')
    .map((text) => ({ text, role: table.endings || words.has(text) ? 'colour' : 'phrase', thing: at }));
}

/** ", one in red and two in black": words of the colours of some of the things; none if the statement has no parts. */
export function writeParts({ things }: Statement, table: Table): Word[] {
  const [thing] = things;
  const { parts = [] } = thing ?? {};
  if (thing === undefined || parts.length === 0) return [];
  const written = parts.flatMap(({ count, colour }, i) => {
    const number = { gender: genderOf(thing, table), plural: count !== 1 };
    const slots = {
      count: wordsOf(countWord(count, thing, false, table), 'part', i),
      colour: wordsOf(colourIn(colour, 'base', number, table), 'part', i),
      attribute: wordsOf(colourIn(colour, 'stem', number, table), 'part', i),
      worn: wornWords(colour, i, table).map((word): Word => ({ ...word, role: 'part' })),
    };
    const phrase = fill(table.phrases[classOf(thing) === 'person' ? 'worn_part' : 'part'], slots, 'part', i);
    const and = i > 0 && i === parts.length - 1 ? wordsOf(table.phrases.and, 'part', i) : [];
    return [...and, ...(i < parts.length - 2 ? withComma(phrase, table) : phrase)];
  });
  return table.phrases.aside === undefined ? written : fill(table.phrases.aside, { parts: written }, 'part');
}

/** The words with a comma after the last one. */
export const withComma = <W extends { readonly text: string }>(words: readonly W[], { phrases }: Table): W[] =>
  words.map((word, i) => (i === words.length - 1 ? { ...word, text: `${word.text}${phrases.comma ?? ','}` } : word));

/** The words of a text with one role. @param text empty: no words */
export const wordsOf = (text: string, role: Role, thing: number | null = null): Word[] =>
  text === '' ? [] : text.split(' ').map((word) => ({ text: word, role, thing }));

/**
 * A template with its slots filled in; `{name}` without a slot is left out, and so is a part in `[...]` with one.
 * @param role of the literal words
 */
export function fill(template: string, slots: Slots, role: Role, thing: number | null = null): Word[] {
  return template.split(/[[\]]/).flatMap((part, i) => {
    const pieces = part.split(' ').map((piece) => ({ piece, slot: /^\{(.+)\}$/.exec(piece)?.[1] }));
    const isEmpty = pieces.some(({ slot }) => slot !== undefined && (slots[slot] ?? []).length === 0);
    if (i % 2 === 1 && isEmpty) return [];
    return pieces.flatMap(({ piece, slot }) =>
      slot === undefined ? wordsOf(piece, role, thing) : (slots[slot] ?? []),
    );
  });
}
export type Slots = Readonly<Record<string, readonly Word[] | undefined>>;

/** The words of `agreement` as slots, for things that are the subject of a sentence. */
export function agreementOf(things: readonly Thing[], table: Table): Slots {
  const plural = things.reduce((n, { count }) => n + (count ?? 2), 0) > 1;
  const [first, ...others] = new Set(things.map((thing) => genderOf(thing, table)));
  const gender = others.length === 0 && first !== undefined ? first : (table.genders?.[0] ?? 'n');
  const agreeing = Object.entries(table.agreement).map(([name, forms]) => [
    name,
    wordsOf(inflected(forms, { gender, plural }, table), 'verb'),
  ]);
  return Object.fromEntries(agreeing);
}

interface Number {
  readonly gender: Gender;
  readonly plural: boolean;
}

const genderOf = ({ noun }: Thing, { nouns, genders }: Table): Gender => nouns[noun]?.gender ?? genders?.[0] ?? 'n';

function inflected(forms: Inflected, { gender, plural }: Number, { genders = [] }: Table): string {
  if (typeof forms === 'string') return forms;
  const singular = forms.length === 2 ? 0 : Math.max(0, genders.indexOf(gender));
  return forms[singular + (plural ? forms.length / 2 : 0)] ?? '';
}

const formOf = (forms: Forms, form: Case, number: Number, table: Table): string =>
  typeof forms === 'object' && 'nom' in forms
    ? (forms[form][number.plural ? 'many' : number.gender] ?? '')
    : inflected(forms, number, table);

function countWord(count: number | null, thing: Thing, definite: boolean, table: Table): string {
  const { counts, nouns } = table;
  const word = counts[(count ?? counts.length) - 1] as Table['counts'][number];
  if (typeof word === 'string') return word.replace('{counter}', nouns[thing.noun]?.counter ?? '');
  return word[definite ? 'definite' : genderOf(thing, table)] ?? word.many ?? word.m ?? '';
}

/** @param form the word by itself, or the part that endings follow */
function colourIn(colour: string, form: 'base' | 'stem', number: Number, table: Table): string {
  const entry = isList(table.colours) ? undefined : table.colours[colour];
  return typeof entry === 'object' && 'stem' in entry ? entry[form] : inflected(entry ?? colour, number, table);
}

/** Articles in the form that the next word needs: "an orange car". */
function beforeVowels(words: readonly Word[], { articles }: Table): Word[] {
  return words.map((word, i) => {
    const next = words[i + 1]?.text ?? '';
    const rule = articles.before?.find(([article, before]) => word.text === article && new RegExp(before).test(next));
    return rule === undefined ? word : { ...word, text: rule[2] };
  });
}
