/**
 * The writer: a statement becomes a sentence in the words of a language. It is the only place where the service turns
 * what changed into words; `read-clauses.ts` reads the captioner's words by the same table.
 */
import type { Content, Statement } from '../schemas/statement.js';
import type { Locale } from './locales.js';
import { type Case, type Table, type Template, tableOf, wordOf } from './table.js';
import { agreementOf, classOf, fill, type Word, withComma, wordsOf, writeParts, writeThing } from './thing.js';

/** A sentence of another grammar than ours stays as text: of a captioner of its own. */
export type Caption = Statement | string;

/** The place of the thing instead of the statement's phrase: the name of a zone, or both zones of a move. */
type NamedPlace = string | { readonly from?: string | undefined; readonly to?: string | undefined };

export interface Writing {
  readonly locale?: Locale;
  readonly place?: NamedPlace | undefined;
}

/** The words of a statement, each with its role. */
export function writeWords(statement: Statement, { locale = 'en', place }: Writing = {}): Word[] {
  const table = tableOf(locale);
  const { things } = statement;
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
    },
    'verb',
  );
  const parts = writeParts(statement, table);
  if (parts.length === 0) return words;
  return [...(table.phrases.aside === undefined ? withComma(words, table) : words), ...parts];
}

/** The sentence of a statement. A caption of another grammar is returned as it came. */
export const write = (caption: Caption, writing: Writing = {}): string =>
  typeof caption === 'string' ? caption : spelled(writeWords(caption, writing), tableOf(writing.locale ?? 'en'));

/** The sentence of several statements: "a car has left, two people have appeared and one more place has changed". */
export function writeContent({ statements, more }: Content, locale: Locale = 'en'): string {
  const table = tableOf(locale);
  const clauses = statements.map((statement) => writeWords(statement, { locale }));
  if (more > 0) clauses.push(writeMore(more, table));
  const { and, then = and } = table.phrases;
  return spelled(
    separated(clauses).flatMap((clause, i) => (i === 0 ? clause : [...wordsOf(then, 'link'), ...clause])),
    table,
  );
}

/** "two more places have changed" */
export function writeMore(more: number, table: Table = tableOf('en')): Word[] {
  const number = table.numbers[Math.min(more, table.numbers.length - 1)] as string;
  return fill(table.phrases.more[more === 1 ? 0 : 1], { number: wordsOf(number, 'verb') }, 'verb');
}

/** The clauses of a sentence. A list of colours ends with a comma before the next clause. */
export const separated = <W extends { readonly text: string }>(clauses: readonly (readonly W[])[]): (readonly W[])[] =>
  clauses.map((clause, i) =>
    i < clauses.length - 1 && clause.some(({ text }) => text.endsWith(',')) ? withComma(clause, tableOf('en')) : clause,
  );

export const textOf = (words: readonly { readonly text: string }[]): string => words.map(({ text }) => text).join(' ');

/** The text of the words in the spelling of the language: elisions, contractions, and no spaces in Japanese. */
export const spelled = (words: readonly Word[], { spelling = [] }: Table): string =>
  spelling.reduce((text, [from, to]) => text.replace(new RegExp(from, 'gu'), to), textOf(words));

const endsOf = ({ from, to }: Exclude<NamedPlace, string>, { phrases }: Table): string =>
  [from && phrases.from.replace('{from}', from), to && phrases.to.replace('{to}', to)].filter(Boolean).join(' ');

/** The template of the verb, or the one that is true of these things and needs no part that the statement lacks. */
function templateOf(
  { kind, verb, things }: Statement,
  table: Table,
  has: Readonly<Record<'place' | 'way', boolean>>,
): Template {
  const templates = table.sentences[kind] as Readonly<Record<string, Template>>;
  const first = Object.values(templates)[0] as Template;
  let template = Object.hasOwn(templates, verb) ? (templates[verb] as Template) : first;
  const fits = ({ needs, of }: Template): boolean =>
    (needs === undefined || has[needs]) && (of === undefined || things.every((thing) => of.includes(classOf(thing))));
  while (!fits(template) && template.otherwise !== undefined) template = templates[template.otherwise] as Template;
  return template;
}
