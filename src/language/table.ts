/**
 * The table of a language: its sentence templates and word lists. A language is this JSON file alone; the captions of
 * training are written from the English one too (`training/text/grammar.py`). The form follows hassil's sentences and
 * lists: `{a}`, `{the}` and `{new}` are things, with a case behind a colon, `{place}` and `{way}` are phrases, and any
 * other name is a word of `agreement` in the number and gender of the sentence's subject. A part in `[...]` is left out
 * if one of its slots is empty.
 */
import { readFileSync } from 'node:fs';
import type { Edge } from '../schemas/visit-statement.js';
import type { Locale } from './locales.js';

export type Case = 'nom' | 'acc';
/** 'm', 'f', 'n', or another one of the table's `genders`; 'many': the plural of all of them */
export type Gender = string;
/**
 * Forms of a word by number and gender: one for all; two, the singular and the plural; or the singular of each of the
 * table's `genders`, and then their plurals.
 */
export type Inflected = string | readonly string[];
/** Forms of a word, or of one per case and gender. */
export type Forms = Inflected | Readonly<Record<Case, Readonly<Partial<Record<Gender, string>>>>>;

/** Units of durations. */
type TimeUnit = 's' | 'min' | 'h' | 'd';

export interface Template {
  readonly text: string;
  /** the part without which the sentence says nothing */
  readonly needs?: 'place' | 'way';
  /** classes of the things that the verb is true of; absent: of all */
  readonly of?: readonly string[];
  /** the verb for other things, or without the needed part */
  readonly otherwise?: string;
  /** false: the captions of training do not have it */
  readonly captioner?: boolean;
}

interface Noun {
  /** absent: the key of the entry */
  readonly one?: string;
  readonly many?: string;
  readonly gender?: Gender;
  /** word behind a number, instead of a plural form */
  readonly counter?: string;
  /** singular forms that differ from `one` */
  readonly cases?: Readonly<Partial<Record<Case, string>>>;
  /** other words for it, which queries have; sentences are written without them */
  readonly also?: readonly string[];
  /** person, vehicle, animal or object; the English table has it for all */
  readonly class?: string;
  /** has neither article nor colour in the singular: "something"; the English table has it for all */
  readonly bare?: boolean;
}
type Words = readonly string[] | Readonly<Record<string, string>>;

export interface Table {
  readonly locale: Locale;
  /** in the order of the forms of `Inflected`; the first one is also that of things of several genders */
  readonly genders?: readonly Gender[];
  readonly agreement: Readonly<Record<string, Inflected>>;
  /** patterns and their replacements in a written sentence, in this order */
  readonly spelling?: readonly (readonly [string, string])[];
  readonly articles: {
    readonly definite: Forms;
    readonly indefinite: Forms;
    /** an article, the words that it is not written before, and the form before those */
    readonly before?: readonly (readonly [string, string, string])[];
  };
  /** endings of colours; absent: they have none */
  readonly endings?: {
    readonly definite: Forms;
    readonly indefinite: Forms;
    readonly garment: Readonly<Record<string, string>>;
  };
  /** one to five, and several */
  readonly counts: readonly (string | Readonly<Record<string, string>>)[];
  readonly phrases: {
    readonly plain: string;
    readonly worn: string;
    readonly dressed: string;
    readonly part: string;
    readonly worn_part: string;
    readonly from: string;
    readonly to: string;
    /** a zone of the camera after a verb, and after `from` and `to`; absent: English, whose name has a preposition */
    readonly zone?: string;
    readonly zone_end?: string;
    readonly and: string;
    /** around the colours of some things; absent: they follow a comma */
    readonly aside?: string;
    /** absent: "," */
    readonly comma?: string;
    /** between the first two clauses, and before the last part of a visit; absent: `and` */
    readonly then?: string;
    readonly lastly?: string;
    /** between further clauses; absent: ";" */
    readonly next?: string;
    /** between the sentences of a visit; absent: "; " */
    readonly also?: string;
    /** the end of a sentence; absent: "." */
    readonly stop?: string;
  };
  readonly sentences: Readonly<Record<string, Readonly<Record<string, Template>>>>;
  /** by kind: clauses about further things of the sort that another clause names, in their number and gender */
  readonly others: Readonly<Record<string, string>>;
  /** by kind: sentences at the end of a change; `scene` without a known thing; `{time}` is its duration */
  readonly ended: Readonly<Record<string, string>>;
  /** forms of `{time}` in `ended` and in `visits.passed` */
  readonly lasted: Readonly<Record<TimeUnit, string>>;
  /** parts of the sentence of a visit; `{time}` is a duration, `{edge}` a phrase of `from` or `to` */
  readonly visits: {
    /** the whole sentence if others may have taken turns with the thing; at: within one minute; within: no clock */
    readonly passed: Readonly<Record<'between' | 'at' | 'within', string>>;
    readonly came: Readonly<Record<'there' | 'edge' | 'appeared', string>>;
    /** by the class of the thing */
    readonly stayed: Readonly<Record<'person' | 'vehicle' | 'other', string>>;
    readonly went: Readonly<Record<'edge' | 'gone' | 'still' | 'unseen', string>>;
    readonly object: Readonly<Record<'object_left' | 'object_removed', string>>;
    readonly from: Readonly<Record<Edge, string>>;
    readonly to: Readonly<Record<Edge, string>>;
    readonly time: Readonly<Record<Exclude<TimeUnit, 'd'>, string>>;
  };
  /** wording of briefs and messages around the sentences */
  readonly texts: Readonly<Record<string, string>>;
  readonly nouns: Readonly<Record<string, Noun>>;
  readonly colours:
    | readonly string[]
    | Readonly<Record<string, Inflected | { readonly base: string; readonly stem: string }>>;
  /** a colour as people wear it, if it differs from the colour */
  readonly worn?: Readonly<Record<string, string>>;
  readonly garments: Readonly<Record<string, { readonly text?: string; readonly gender?: string }>>;
  readonly places: Words;
  readonly ways: Words;
}

const tables = new Map<Locale, Table>();

/** The table of a locale, read once. @throws Error if its file is missing or no JSON */
export function tableOf(locale: Locale): Table {
  const known = tables.get(locale);
  if (known !== undefined) return known;
  const table = JSON.parse(readFileSync(new URL(`./tables/${locale}.json`, import.meta.url), 'utf8')) as Table;
  tables.set(locale, table);
  return table;
}

/** Whether a list has the English words alone, which are the values of statements. */
export const isList = <T>(words: readonly string[] | Readonly<Record<string, T>>): words is readonly string[] =>
  Array.isArray(words);

/** The phrases or words of a list, in English: the values of statements. */
export const keysOf = <T>(words: readonly string[] | Readonly<Record<string, T>>): readonly string[] =>
  isList(words) ? words : Object.keys(words);

/** The entry of a list; a word that the list does not have stays, such as the name of a zone. */
export const wordOf = (words: Words, key: string): string => (isList(words) ? key : (words[key] ?? key));
