/**
 * The writer: a statement becomes a sentence in the words of a language, with a capital letter and a full stop. It is
 * the only place where the service turns what changed into words; `read-clauses.ts` reads the captioner's words by the
 * same table. A sentence is never put into another one: texts stand before or after it.
 */
import type { Content, Statement, Thing } from '../schemas/statement.js';
import type { Locale } from './locales.js';
import { OTHERS, withUsefulPlaces } from './order.js';
import { type Case, type Table, type Template, tableOf, wordOf } from './table.js';
import {
  agreementOf,
  classOf,
  fill,
  SOMETHING,
  type Word,
  withComma,
  wordsOf,
  writeParts,
  writeThing,
} from './thing.js';
import { writeTime } from './time.js';

/** A sentence of another grammar than ours stays as text: of a captioner of its own. */
export type Caption = Statement | string;

/** The place of the thing instead of the statement's phrase: the name of a zone, or both zones of a move. */
type NamedPlace = string | { readonly from?: string | undefined; readonly to?: string | undefined };

export interface Writing {
  readonly locale?: Locale;
  readonly place?: NamedPlace | undefined;
}

/** The words of a statement as a clause, without capital letter and full stop, each with its role. */
export function writeWords(statement: Statement, { locale = 'en', place }: Writing = {}): Word[] {
  const table = tableOf(locale);
  const lasted = statement.ended_after_s;
  // An ended change is known: "the person", without the colours of some of several.
  const things =
    lasted === undefined
      ? statement.things
      : statement.things.map(({ parts: _of, ...thing }) => ({ ...thing, definite: true }));
  const fromTo = typeof place === 'object' ? endsOf(place, table) : undefined;
  const stated = statement.place && wordOf(table.places, statement.place);
  const where = fromTo === undefined ? ((place as string | undefined) ?? stated) : null;
  const way = fromTo ?? (statement.way === null ? '' : wordOf(table.ways, statement.way));
  const { text } = templateOf(statement, table, { place: where !== null, way: way !== '' });
  const isReplacement = statement.kind === 'replace' && things.length > 1;
  const old = isReplacement ? things.slice(0, -1) : things;
  const listed = (form: Case): Word[] =>
    old.flatMap((thing, i) => [
      ...(i > 0 ? wordsOf(table.phrases.and, 'link') : []),
      ...writeThing(thing, i, form, table),
    ]);
  const last = things.length - 1;
  const next = (form: Case): Word[] =>
    isReplacement ? writeThing(things[last] as Statement['things'][0], last, form, table) : [];
  const words = fill(
    text,
    {
      ...agreementOf(text.startsWith('{new') ? things.slice(-1) : old, table),
      ...{ a: listed('nom'), the: listed('nom'), new: next('nom') },
      ...{ 'a:acc': listed('acc'), 'the:acc': listed('acc'), 'new:acc': next('acc') },
      place: wordsOf(where ?? '', 'place'),
      way: wordsOf(way, 'way'),
      time: wordsOf(lasted == null ? '' : writeTime(lasted, table.lasted), 'verb'),
    },
    'verb',
  );
  const parts = writeParts({ ...statement, things }, table);
  if (parts.length === 0) return words;
  return [...(table.phrases.aside === undefined ? withComma(words, table) : words), ...parts];
}

/** The words of a clause without its place. The comma before the colours of some things moves to the word before it. */
export function withoutPlace<W extends Word>(words: readonly W[]): W[] {
  const at = words.findIndex(({ role }) => role === 'place');
  const comma = words.findLast(({ role }) => role === 'place')?.text.endsWith(',') ? ',' : '';
  const move = (word: W, i: number): W => (i === at - 1 ? { ...word, text: `${word.text}${comma}` } : word);
  return words.map(move).filter(({ role }) => role !== 'place');
}

/** The sentence of a statement. A caption of another grammar is returned as it came. */
export function write(caption: Caption, { locale = 'en', place }: Writing = {}): string {
  if (typeof caption === 'string') return caption;
  const [useful = caption] = place === undefined ? withUsefulPlaces([caption]) : [caption];
  return sentenceOf(spelled(writeWords(useful, { locale, place }), tableOf(locale)), locale);
}

/** The sentence of several statements: "A car has left, and two people have appeared; others have moved." */
export const writeContent = ({ statements }: Content, locale: Locale = 'en'): string =>
  sentenceOf(
    spelled(
      joinClauses(
        withUsefulPlaces(statements).map((one) => writeWords(one, { locale })),
        (text): Word => ({ text, role: 'link', thing: null }),
        locale,
      ),
      tableOf(locale),
    ),
    locale,
  );

/**
 * The words of clauses as those of one sentence: at most one "and" joins clauses or things, a semicolon the others.
 * @param linkOf the word between two clauses. @param linkOf.next the clause after it
 */
export function joinClauses<W extends { readonly text: string }>(
  clauses: readonly (readonly W[])[],
  linkOf: (text: string, next: readonly W[]) => W,
  locale: Locale = 'en',
): W[] {
  const { and, then = and, next: further = ';' } = tableOf(locale).phrases;
  const hasAnd = clauses.slice(0, 2).some((clause) => clause.some(({ text }) => text === and));
  return clauses.flatMap((clause, i) => {
    const following = clauses[i + 1];
    if (following === undefined) return clause;
    const [, mark = '', word = ''] = /^(\u00A0?[,;]?) ?(.*)$/u.exec(i === 0 && !hasAnd ? then : further) ?? [];
    return [...withEnd(clause, mark), ...(word === '' ? [] : [linkOf(word, following)])];
  });
}

/** Words with the capital letter and the full stop of a sentence, where they lack them. */
export const asSentence = <W extends { readonly text: string }>(words: readonly W[], locale: Locale = 'en'): W[] =>
  words.map((word, i) => {
    const begun = i === 0 ? capital(word.text, locale) : word.text;
    return { ...word, text: i === words.length - 1 ? stopped(begun, locale) : begun };
  });

export const textOf = (words: readonly { readonly text: string }[]): string => words.map(({ text }) => text).join(' ');

/** The text of the words in the spelling of the language: elisions, contractions, and no spaces in Japanese. */
export const spelled = (words: readonly Word[], { spelling = [] }: Table): string =>
  spelling.reduce((text, [from, to]) => text.replace(new RegExp(from, 'gu'), to), textOf(words));

/** A text with the capital letter and the full stop of a sentence, where it lacks them. */
export const sentenceOf = (text: string, locale: Locale): string => stopped(capital(text, locale), locale);

/** The first letter as a capital, in a script that has them. */
export const capital = (text: string, locale: Locale): string =>
  text.replace(/^\p{Ll}/u, (letter) => letter.toLocaleUpperCase(locale));

const stopped = (text: string, locale: Locale): string =>
  /[.!?。！？…]$/u.test(text) ? text : text + (tableOf(locale).phrases.stop ?? '.');

const withEnd = <W extends { readonly text: string }>(words: readonly W[], end: string): W[] =>
  words.map((word, i) => (i === words.length - 1 ? { ...word, text: word.text + end } : word));

const endsOf = ({ from, to }: Exclude<NamedPlace, string>, { phrases }: Table): string =>
  [from && phrases.from.replace('{from}', from), to && phrases.to.replace('{to}', to)].filter(Boolean).join(' ');

/** The template of the verb, or the one that is true of these things and needs no part that the statement lacks. */
function templateOf(
  { kind, verb, things, ended_after_s }: Statement,
  table: Table,
  has: Readonly<Record<'place' | 'way', boolean>>,
): Template {
  if (ended_after_s !== undefined) {
    const isKnown = kind !== 'change' || things.some(({ noun }) => noun !== SOMETHING);
    return { text: table.ended[isKnown ? kind : 'scene'] ?? (table.ended.scene as string) };
  }
  const others = verb === OTHERS ? table.others[kind] : undefined;
  if (others !== undefined) return { text: others };
  const templates = table.sentences[kind] as Readonly<Record<string, Template>>;
  const first = Object.values(templates)[0] as Template;
  let template = Object.hasOwn(templates, verb) ? (templates[verb] as Template) : first;
  const fits = ({ needs, of }: Template): boolean =>
    (needs === undefined || has[needs]) && (of === undefined || things.every((thing) => of.includes(classOf(thing))));
  while (!fits(template) && template.otherwise !== undefined) template = templates[template.otherwise] as Template;
  return template;
}

/** A thing by itself, as a sentence names it first: "a white van", "two people". */
export function nounPhrase(thing: Thing, locale: Locale): string {
  const table = tableOf(locale);
  // More than the table counts are several.
  const count = thing.count !== null && thing.count >= table.counts.length ? null : thing.count;
  return spelled(writeThing({ ...thing, count }, 0, 'nom', table), table);
}
