/**
 * The reader of the captioner's sentences, which are written by the English table. Each clause is matched as a whole
 * against the templates, so that a sentence of another grammar is refused. Sentences of people are read by
 * `people/captions.ts`.
 */
import type { Statement, Thing } from '../schemas/statement.js';
import { keysOf, type Template, tableOf } from './table.js';
import type { Role } from './thing.js';
import type { Caption } from './write.js';

/** A word of the sentence that was read: its role, and the thing that it is about. */
export interface ReadRole {
  readonly role: Role;
  readonly thing: number | null;
}

/** A clause: indices of its words without the "and" before it. */
export interface Clause {
  readonly words: readonly number[];
  /** null: a clause of another grammar */
  readonly statement: Statement | null;
  /** one per word */
  readonly roles: readonly ReadRole[];
}

const table = tableOf('en');
const longestFirst = (words: readonly string[]): string => [...words].sort((a, b) => b.length - a.length).join('|');
const PLACE = `${longestFirst(keysOf(table.places))}|by the [a-z]+`;
const WAY = longestFirst(keysOf(table.ways));
const COUNTS = table.counts as readonly string[];
const COLOURS: ReadonlySet<string> = new Set(keysOf(table.colours).flatMap((colour) => colour.split(' ')));
const SINGULAR: ReadonlyMap<string, string> = new Map(
  Object.entries(table.nouns).flatMap(([one, { many }]) => (many === undefined ? [] : [[many, one] as const])),
);
/** Words that are no part of a noun phrase: a clause with one of them inside its thing is of another grammar. */
const NO_NOUN = /^(?:has|have|is|are|been|there|now|on|in|at|by|to|and|of|no|nothing|only|the|a|an)$/;

interface Reader {
  readonly kind: Statement['kind'];
  readonly verb: string;
  readonly pattern: RegExp;
}

const readerOf = (kind: Statement['kind'], verb: string, { text }: Template): Reader => {
  let pattern = '';
  for (const [i, piece] of text.split(' ').entries()) {
    const name = /^\{([a-z]+)(?::[a-z]+)?\}$/.exec(piece)?.[1];
    const space = i === 0 ? '' : ' ';
    if (name === 'place' || name === 'way') pattern += `(?:${space}(?<${name}>${name === 'place' ? PLACE : WAY}))?`;
    else if (name === 'a' || name === 'the') pattern += `${space}(?<thing>.+?)`;
    else if (name === 'new') pattern += `${space}(?<next>.+?)`;
    else
      pattern += space + (name === undefined ? piece : `(?:${(table.agreement[name] as readonly string[]).join('|')})`);
  }
  return { kind, verb, pattern: new RegExp(`^${pattern}$`, 'd') };
};

const READERS: readonly Reader[] = Object.entries(table.sentences).flatMap(([kind, templates]) =>
  Object.entries(templates).map(([verb, template]) => readerOf(kind as Statement['kind'], verb, template)),
);

/**
 * @param given words of a sentence of the writer or of the captioner, which writes neither capitals nor marks
 * @returns its clauses. An "and" between two things of one clause does not end it, because no verb follows.
 */
export function readClauses(given: readonly string[]): Clause[] {
  const words = given.map((word, i) => (i === 0 ? begun(word) : word).replace(/[.,;]$/, ''));
  const clauses: Clause[] = [];
  let pending: number[] = [];
  for (const [i, word] of words.entries()) {
    const isAfterMark = given[i - 1]?.endsWith(';') === true;
    if (word === 'and' || isAfterMark) {
      const clause = readClause(pending, words);
      if (clause !== null) {
        clauses.push(clause);
        pending = isAfterMark ? [i] : [];
        continue;
      }
    }
    pending.push(i);
  }
  if (pending.length === 0) return clauses;
  const last = readClause(pending, words);
  const roles = pending.map((): ReadRole => ({ role: 'verb', thing: null }));
  return [...clauses, last ?? { words: pending, statement: null, roles }];
}

/** The first word of a sentence, as it is within one. */
const begun = (word: string): string => word.charAt(0).toLowerCase() + word.slice(1);

/** A sentence of one clause as a statement. @returns null for several clauses, and for another grammar */
export function readStatement(sentence: string): Statement | null {
  const [clause, ...others] = readClauses(sentence.split(' '));
  return others.length > 0 ? null : (clause?.statement ?? null);
}

/** The statement of a caption, read from its text if it was stored as one. */
export const statementOf = (caption: Caption): Statement | null =>
  typeof caption === 'string' ? readStatement(caption) : caption;

function readClause(positions: readonly number[], words: readonly string[]): Clause | null {
  const text = positions.map((i) => words[i]).join(' ');
  for (const { kind, verb, pattern } of READERS) {
    const match = pattern.exec(text);
    if (match === null) continue;
    const { thing, next, place = null, way = null } = match.groups ?? {};
    const read = [...(thing === undefined ? [] : phrasesOf(thing)), ...(next === undefined ? [] : [phraseOf(next)])];
    if (read.includes(null)) continue;
    const things = read.map((one) => (one as Phrase).thing);
    if (kind !== 'none' && kind !== 'tamper' && things.length === 0) continue;
    const roles = positions.map((): ReadRole => ({ role: 'verb', thing: null }));
    const mark = (name: string, of: (i: number) => ReadRole): void => {
      const [from, to] = match.indices?.groups?.[name] ?? [0, 0];
      const first = text.slice(0, from).split(' ').length - 1;
      for (let i = 0; i < text.slice(from, to).split(' ').length && to > from; i++) roles[first + i] = of(i);
    };
    mark('place', () => ({ role: 'place', thing: null }));
    mark('way', () => ({ role: 'way', thing: null }));
    const ofThings = read
      .slice(0, next === undefined ? undefined : -1)
      .flatMap((one, at) => [
        ...(at > 0 ? [{ role: 'link', thing: null } as const] : []),
        ...(one as Phrase).roles.map((role) => ({ role, thing: at })),
      ]);
    mark('thing', (i) => ofThings[i] as ReadRole);
    mark('next', (i) => ({ role: (read.at(-1) as Phrase).roles[i] as Role, thing: read.length - 1 }));
    return { words: positions, statement: { kind, verb, things, place, way }, roles };
  }
  return null;
}

interface Phrase {
  readonly thing: Thing;
  /** one per word */
  readonly roles: readonly Role[];
}

const phrasesOf = (text: string): (Phrase | null)[] => text.split(' and ').map(phraseOf);

/** "two people in dark clothes": determiner, count, colour, noun, clothes. @returns null for any other text */
function phraseOf(text: string): Phrase | null {
  const words = text.split(' ');
  if (words.length === 1 && table.nouns[text]?.bare === true) {
    return { thing: { noun: text, colour: null, count: 1, definite: false }, roles: ['noun'] };
  }
  const definite = words[0] === 'the';
  const article = definite || words[0] === 'a' || words[0] === 'an' ? 1 : 0;
  const count = COUNTS.indexOf(words[article] ?? '') + 1;
  const several = count > 1;
  const start = article + (several ? 1 : 0);
  if (start === 0) return null;
  const noun = start + words.slice(start).findIndex((word) => !COLOURS.has(word));
  const worn = words.indexOf('in', noun);
  const end = worn < 0 ? words.length : worn;
  const named = words.slice(noun, end);
  if (noun < start || named.length === 0 || named.some((word) => NO_NOUN.test(word))) return null;
  const clothes = worn < 0 ? { words: [], at: words.length, garment: undefined } : clothesOf(words, worn + 1);
  if (clothes === null) return null;
  const colour = clothes.words.length > 0 ? clothes.words : words.slice(start, noun);
  const roles = words.map((_, i): Role => {
    if (i >= noun && i < end) return 'noun';
    if (worn < 0) return i >= start && i < noun ? 'colour' : 'phrase';
    return i >= clothes.at && i < clothes.at + clothes.words.length ? 'colour' : 'phrase';
  });
  const thing = {
    noun: several ? (SINGULAR.get(named.join(' ')) ?? named.join(' ')) : named.join(' '),
    colour: colour.length > 0 ? colour.join(' ') : null,
    count: !several ? 1 : count === COUNTS.length ? null : count,
    definite,
    ...(clothes.garment === undefined || clothes.garment === 'clothes' ? {} : { garment: clothes.garment }),
  };
  return { thing, roles };
}

/** "brown", "a dark blue coat", "dark clothes" after "in" */
function clothesOf(words: readonly string[], from: number) {
  const at = words[from] === 'a' || words[from] === 'an' ? from + 1 : from;
  const end = at + words.slice(at).findIndex((word) => !COLOURS.has(word));
  const stop = end < at ? words.length : end;
  if (stop === at || words.length > stop + 1) return null;
  return { words: words.slice(at, stop), at, garment: words[stop] };
}
