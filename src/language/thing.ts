/** The noun phrase of a thing: "a red car", "the two people in dark clothes", "ein rotes Auto". */
import type { Statement, Thing } from '../schemas/statement.js';
import { type Case, type Forms, type Gender, isList, type Table } from './table.js';

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

export const classOf = ({ noun }: Pick<Thing, 'noun'>, table: Table): string => table.nouns[noun]?.class ?? 'object';

/** @param at position of the thing among those of its statement */
export function writeThing(thing: Thing, at: number, form: Case, table: Table): Word[] {
  const { colour, count, definite } = thing;
  const entry = table.nouns[thing.noun] ?? {};
  const one = entry.cases?.[form] ?? entry.one ?? thing.noun;
  const noun = count === 1 ? one : (entry.many ?? `${thing.noun}s`);
  if (entry.bare && count === 1) return wordsOf(noun, 'noun', at);
  const gender: Gender = count === 1 ? (entry.gender ?? 'n') : 'many';
  const wears = entry.class === 'person';
  const garment = wears && count === 1 && colour !== null ? (thing.garment ?? null) : null;
  const phrase = colour === null || !wears ? 'plain' : garment === null ? 'worn' : 'dressed';
  const article = definite ? table.articles.definite : count === 1 ? table.articles.indefinite : '';
  const adjective = colour === null ? '' : inflected(colour, definite ? 'definite' : 'indefinite', form, gender, table);
  const slots: Readonly<Record<string, readonly Word[]>> = {
    article: wordsOf(formOf(article, form, gender), 'phrase', at),
    count: count === 1 ? [] : wordsOf(countWord(count, definite ? 'definite' : gender, table), 'phrase', at),
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
  return {
    garment: wordsOf(text, 'phrase', at),
    garment_article: wordsOf(formOf(table.articles.indefinite, 'nom', 'n'), 'phrase', at),
    garment_colour: wordsOf(`${colourIn(colour, 'stem', table)}${ending}`, 'colour', at),
  };
}

/** "red", or the clothes of a colour that has no name as clothes: "dark clothes". */
function wornWords(colour: string, at: number, table: Table): Word[] {
  const worn = table.worn?.[colour] ?? colourIn(colour, 'base', table);
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
  const { class: kind, gender = 'n' } = table.nouns[thing.noun] ?? {};
  return parts.flatMap(({ count, colour }, i) => {
    const slots = {
      count: wordsOf(countWord(count, gender, table), 'part', i),
      colour: wordsOf(colourIn(colour, 'base', table), 'part', i),
      worn: wornWords(colour, i, table).map((word): Word => ({ ...word, role: 'part' })),
    };
    const phrase = fill(table.phrases[kind === 'person' ? 'worn_part' : 'part'], slots, 'part', i);
    const and = i > 0 && i === parts.length - 1 ? wordsOf(table.phrases.and, 'part', i) : [];
    return [...and, ...(i < parts.length - 2 ? withComma(phrase) : phrase)];
  });
}

/** The words with a comma after the last one. */
export const withComma = <W extends { readonly text: string }>(words: readonly W[]): W[] =>
  words.map((word, i) => (i === words.length - 1 ? { ...word, text: `${word.text},` } : word));

/** The words of a text with one role. @param text empty: no words */
export const wordsOf = (text: string, role: Role, thing: number | null = null): Word[] =>
  text === '' ? [] : text.split(' ').map((word) => ({ text: word, role, thing }));

/** A template with its slots filled in; `{name}` without a slot is left out. @param role of the literal words */
export function fill(
  template: string,
  slots: Readonly<Record<string, readonly Word[] | undefined>>,
  role: Role,
  thing: number | null = null,
): Word[] {
  return template.split(' ').flatMap((piece): readonly Word[] => {
    const [, name] = /^\{(.+)\}$/.exec(piece) ?? [];
    return name === undefined ? wordsOf(piece, role, thing) : (slots[name] ?? []);
  });
}

const formOf = (forms: Forms, form: Case, gender: Gender): string =>
  typeof forms === 'string' ? forms : (forms[form][gender] ?? '');

function countWord(count: number | null, form: Gender | 'definite', { counts }: Table): string {
  const word = counts[(count ?? counts.length) - 1] as Table['counts'][number];
  return typeof word === 'string' ? word : (word[form] ?? word.many ?? '');
}

/** @param form the word by itself, or the part that endings follow */
function colourIn(colour: string, form: 'base' | 'stem', { colours }: Table): string {
  const entry = isList(colours) ? undefined : colours[colour];
  return typeof entry === 'object' ? entry[form] : (entry ?? colour);
}

const inflected = (
  colour: string,
  determiner: 'definite' | 'indefinite',
  form: Case,
  gender: Gender,
  table: Table,
): string => `${colourIn(colour, 'stem', table)}${formOf(table.endings?.[determiner] ?? '', form, gender)}`;

/** Articles in the form that the next word needs: "an orange car". */
function beforeVowels(words: readonly Word[], { articles }: Table): Word[] {
  return words.map((word, i) => {
    const next = words[i + 1]?.text ?? '';
    const rule = articles.before?.find(([article, before]) => word.text === article && new RegExp(before).test(next));
    return rule === undefined ? word : { ...word, text: rule[2] };
  });
}
