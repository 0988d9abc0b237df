/**
 * Filter for the clauses of a sentence ("... has left and ... has appeared"). The decoder writes word by word and
 * sometimes does not stop: it states that a hidden thing is gone, or states one thing twice.
 */

/** A clause: indices of its words without the "and" before it, and the kind that its verb states, if it is known. */
export interface Clause {
  readonly words: readonly number[];
  readonly kind: ClauseKind | undefined;
}
type ClauseKind = 'replace' | 'disappear' | 'move' | 'appear';

/**
 * Verbs of the captions' grammar and of objects left and removed (src/changes), the specific before the general: "there
 * is a van instead of a car" is no appearance.
 */
const VERBS: readonly (readonly [kind: ClauseKind, verb: RegExp])[] = [
  ['replace', /\bbeen replaced by\b|\btaken the place of\b|\binstead of\b/],
  [
    'disappear',
    /\b(?:has|have) (?:left|disappeared)\b|\b(?:is|are) (?:gone|no longer there)\b|\b(?:has|have) been removed\b/,
  ],
  ['move', /\b(?:has|have) (?:been )?(?:moved|walked|driven|shifted)\b/],
  ['appear', /\b(?:has|have) (?:appeared|arrived|been left)\b|\bthere (?:is|are)\b|\b(?:is|are) now\b/],
];
const KINDS_OF_ONE_ACTION: ReadonlySet<string> = new Set(VERBS.map(([kind]) => kind));

/**
 * Keeps the clauses that state `kind`, each once. It keeps every kind of clause if `kind` allows several actions
 * (multi) or no clause fits it, and the whole sentence if one clause has no known verb.
 * @param words of the sentence
 * @returns indices of the words that stay, ascending; at least one clause of a sentence that has words
 */
export function filterClausesByKind(words: readonly string[], kind: string): number[] {
  const clauses = clausesOf(words);
  if (clauses.some((clause) => clause.kind === undefined)) return words.map((_, i) => i);
  const filters = KINDS_OF_ONE_ACTION.has(kind) && clauses.some((clause) => clause.kind === kind);
  const seen = new Set<string>();
  const kept = clauses.filter((clause) => {
    const text = textOf(clause.words, words);
    const keeps = !seen.has(text) && (!filters || clause.kind === kind);
    if (keeps) seen.add(text);
    return keeps;
  });
  return joinClauses(kept);
}

/** @returns the indices of the words of these clauses of a sentence, each but the first with the "and" before it */
export const joinClauses = (clauses: readonly Clause[]): number[] =>
  clauses.flatMap(({ words }, i) => (i === 0 ? words : [(words[0] as number) - 1, ...words]));

/** Whether every clause of a sentence states this kind. */
export const statesOnly = (sentence: string, kind: string): boolean =>
  clausesOf(sentence.split(' ')).every((clause) => clause.kind === kind);

/**
 * @param words of a sentence
 * @returns its clauses. An "and" between two things of one clause does not end it, because no verb follows.
 */
export function clausesOf(words: readonly string[]): Clause[] {
  const clauses: number[][] = [[]];
  for (const [i, word] of words.entries()) {
    const next = words.indexOf('and', i + 1);
    const rest = words.slice(i + 1, next < 0 ? undefined : next);
    const current = clauses.at(-1) as number[];
    const complete = kindOfClause(textOf(current, words)) !== undefined;
    if (word === 'and' && complete && kindOfClause(rest.join(' ')) !== undefined) clauses.push([]);
    else current.push(i);
  }
  return clauses.map((clause) => ({ words: clause, kind: kindOfClause(textOf(clause, words)) }));
}

const textOf = (clause: readonly number[], words: readonly string[]): string => clause.map((i) => words[i]).join(' ');

const kindOfClause = (clause: string): ClauseKind | undefined => VERBS.find(([, verb]) => verb.test(clause))?.[0];
