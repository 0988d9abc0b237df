/**
 * Filter for the clauses of a sentence ("... has left and ... has appeared"). The decoder writes word by word and
 * sometimes does not stop: it states that a hidden thing is gone, or states one thing twice.
 */

/**
 * Verbs of the captions' grammar, the specific before the general: "there is a van instead of a car" is no appearance.
 */
const VERBS: readonly (readonly [kind: string, verb: RegExp])[] = [
  ['replace', /\bbeen replaced by\b|\btaken the place of\b|\binstead of\b/],
  ['disappear', /\b(?:has|have) (?:left|disappeared)\b|\b(?:is|are) (?:gone|no longer there)\b/],
  ['move', /\b(?:has|have) (?:been )?(?:moved|walked|driven|shifted)\b/],
  ['appear', /\b(?:has|have) (?:appeared|arrived)\b|\bthere (?:is|are)\b|\b(?:is|are) now\b/],
];
const KINDS_OF_ONE_ACTION = new Set(VERBS.map(([kind]) => kind));

/**
 * Keeps the clauses that state `kind`, each once. It keeps every kind of clause if `kind` allows several actions
 * (multi) or no clause fits it, and the whole sentence if one clause has no known verb.
 * @param words of the sentence
 * @returns indices of the words that stay, ascending; at least one clause of a sentence that has words
 */
export function filterClausesByKind(words: readonly string[], kind: string): number[] {
  const clauses = clausesOf(words);
  const kinds = clauses.map((clause) => kindOfClause(textOf(clause, words)));
  if (kinds.includes(undefined)) return words.map((_, i) => i);
  const filters = KINDS_OF_ONE_ACTION.has(kind) && kinds.includes(kind);
  const seen = new Set<string>();
  const kept = clauses.filter((clause, i) => {
    const text = textOf(clause, words);
    const keeps = !seen.has(text) && (!filters || kinds[i] === kind);
    if (keeps) seen.add(text);
    return keeps;
  });
  // The word before a clause is the "and" that joins it to the one before.
  return kept.flatMap((clause, i) => (i === 0 ? clause : [(clause[0] as number) - 1, ...clause]));
}

/**
 * @returns the word indices of each clause, without the "and" before it. An "and" between two things of one clause does
 *   not end the clause, because no verb follows it.
 */
function clausesOf(words: readonly string[]): number[][] {
  const clauses: number[][] = [[]];
  for (const [i, word] of words.entries()) {
    const next = words.indexOf('and', i + 1);
    const rest = words.slice(i + 1, next < 0 ? undefined : next);
    const current = clauses.at(-1) as number[];
    const complete = kindOfClause(textOf(current, words)) !== undefined;
    if (word === 'and' && complete && kindOfClause(rest.join(' ')) !== undefined) clauses.push([]);
    else current.push(i);
  }
  return clauses;
}

const textOf = (clause: readonly number[], words: readonly string[]): string =>
  clause.map((i) => words[i]).join(' ');

const kindOfClause = (clause: string): string | undefined => VERBS.find(([, verb]) => verb.test(clause))?.[0];
