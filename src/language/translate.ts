/** Sentences of stored answers in another language: a sentence with a statement is written from that. Pure. */
import type { DigestStatement } from '../schemas/digest.js';
import type { Content, Statement } from '../schemas/statement.js';
import type { VisitStatement } from '../schemas/visit-statement.js';
import { writeDigest } from './digest.js';
import { LOCALES, type Locale } from './locales.js';
import { type Table, tableOf } from './table.js';
import { writeVisit } from './visit.js';
import { type Writing, write, writeContent } from './write.js';

export const DEFAULT_LOCALE: Locale = 'en';

/** The language of a tag ("de-AT" is German). @returns undefined for one without a table */
export function localeOf(tag: string): Locale | undefined {
  const [language] = tag.toLowerCase().split(/[-_]/);
  return LOCALES.find((locale) => locale === language);
}

/** The first language of a list such as `Accept-Language` that has a table. @returns undefined if none has one */
export function acceptedLocale(header: string): Locale | undefined {
  const tags = header.split(',').map((part, i) => {
    const [tag = '', ...parameters] = part.split(';').map((one) => one.trim());
    const q = parameters.find((one) => one.startsWith('q='))?.slice(2);
    return { tag, i, q: q === undefined ? 1 : Number(q) };
  });
  const wanted = tags.filter(({ q }) => q > 0).sort((a, b) => b.q - a.q || a.i - b.i);
  return wanted.map(({ tag }) => (tag === '*' ? DEFAULT_LOCALE : localeOf(tag))).find((one) => one !== undefined);
}

/** A text of briefs and messages. @param values of its slots; an `n` of 1 takes the form before the bar */
export function textIn(locale: Locale, key: string, values: Readonly<Record<string, string | number>> = {}): string {
  const [one = '', many = one] = (tableOf(locale).texts[key] ?? key).split('|');
  return (values.n === 1 ? one : many).replace(/\{(\w+)\}/g, (slot, name) => String(values[name] ?? slot));
}

/**
 * A copy of an answer in which each sentence beside its `content` is written in the language: the captions of
 * comparisons, changes and visits, and the clauses of comparisons. A sentence without a statement stays: of a captioner
 * with a grammar of its own, or of a person.
 */
export function translated<T>(answer: T, locale: Locale): T {
  return locale === DEFAULT_LOCALE ? answer : (translate(answer, locale) as T);
}

function translate(value: unknown, locale: Locale): unknown {
  if (Array.isArray(value)) return value.map((one) => translate(one, locale));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => [key, translate(part, locale)]);
  const { content, caption, model_caption, text } = value as Record<string, unknown>;
  if (typeof content !== 'object' || content === null) return Object.fromEntries(entries);
  const sentences = Object.entries({ caption, model_caption, text })
    .filter((one): one is [string, string] => typeof one[1] === 'string')
    .map(([key, sentence]) => [key, sentenceIn(sentence, content, locale)]);
  return Object.fromEntries([...entries, ...sentences]);
}

/** @param content statement of a change, of a comparison, of a visit or of a digest */
export function sentenceIn(sentence: string, content: object, locale: Locale): string {
  if ('thing' in content) return writeVisit(content as VisitStatement, locale);
  if ('counts' in content) return writeDigest(content as DigestStatement, locale);
  if ('statements' in content) return writeContent(content as Content, locale);
  return 'verb' in content ? statementIn(sentence, content as Statement, locale) : sentence;
}

/** The sentence of a change, in which the name of a zone may have taken the place of the statement's phrase. */
function statementIn(sentence: string, statement: Statement, locale: Locale): string {
  const place = placeIn(sentence, statement);
  if (place === null) return sentence;
  const { zone = '{name}', zone_end: end = '{name}' } = tableOf(locale).phrases;
  if (place === undefined) return write(statement, { locale });
  if (typeof place === 'string') {
    return write(statement, { locale, place: named(zone, place.replace(/^(?:in|on|at) /, '')) });
  }
  const { from, to } = place;
  return write(statement, { locale, place: { from: from && named(end, from), to: to && named(end, to) } });
}

/** @returns the zones that the English sentence names; undefined: none; null: it is not a sentence of the statement */
export function placeIn(sentence: string, statement: Statement): Writing['place'] | null {
  if (sentence === write(statement)) return undefined;
  const at = between(sentence, write(statement, { place: SLOT }));
  if (at !== undefined) return at;
  const ends = [
    { from: SLOT, to: SLOT },
    { from: SLOT, to: undefined },
    { from: undefined, to: SLOT },
  ].map(({ from, to }) => ({ from, to, template: write(statement, { place: { from, to } }) }));
  for (const { from, to, template } of ends) {
    const names = between(sentence, template)?.split(from && to ? ' to ' : SLOT);
    if (names?.length !== (from && to ? 2 : 1)) continue;
    const [first = '', last = first] = names;
    return { from: from && first, to: to && last };
  }
  return null;
}

const SLOT = '\u0001';
const named = (template: Table['phrases']['from'], name: string): string => template.replace('{name}', () => name);

/** The part of a sentence that stands in place of a template's slots. */
function between(sentence: string, template: string): string | undefined {
  const [before, after] = [template.slice(0, template.indexOf(SLOT)), template.slice(template.lastIndexOf(SLOT) + 1)];
  const isWritten = template.includes(SLOT) && sentence.length >= before.length + after.length;
  return isWritten && sentence.startsWith(before) && sentence.endsWith(after)
    ? sentence.slice(before.length, sentence.length - after.length)
    : undefined;
}
