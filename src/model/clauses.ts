/**
 * A sentence of several clauses ("... has left and ... has appeared") beside the kind that both looks believe in. The decoder
 * writes word by word and goes on where it should stop: what a person hides is then told as gone, one thing as two.
 */

/** Of the captions' grammar, the particular before the general: "there is a van instead of a car" is no appearance. */
const VERBS: readonly (readonly [kind: string, verb: RegExp])[] = [
  ['replace', /\bbeen replaced by\b|\btaken the place of\b|\binstead of\b/],
  ['disappear', /\b(?:has|have) (?:left|disappeared)\b|\b(?:is|are) (?:gone|no longer there)\b/],
  ['move', /\b(?:has|have) (?:been )?(?:moved|walked|driven|shifted)\b/],
  ['appear', /\b(?:has|have) (?:appeared|arrived)\b|\bthere (?:is|are)\b|\b(?:is|are) now\b/],
];
const KINDS_OF_ONE_ACTION = new Set(VERBS.map(([kind]) => kind));

/**
 * The words that are kept: clauses that say what `kind` says, each once. All where the sentence is read in no other way: `kind` allows
 * several actions (multi), no clause fits it, or a clause has no verb that is known here.
 * @param words of the sentence
 * @returns indices, ascending, at least one clause where there are words
 */
export function wordsThatAgree(words: readonly string[], kind: string): number[] {
  const all = words.map((_, i) => i);
  const clauses = clausesOf(words);
  const kinds = clauses.map((clause) => kindOfClause(textOf(clause, words)));
  if (kinds.includes(undefined)) return all;
  const fitting = KINDS_OF_ONE_ACTION.has(kind) && kinds.includes(kind);
  const said = new Set<string>();
  const kept = clauses.filter((clause, i) => {
    const text = textOf(clause, words);
    const keeps = !said.has(text) && (!fitting || kinds[i] === kind);
    if (keeps) said.add(text);
    return keeps;
  });
  return kept.flatMap((clause, i) => (i === 0 ? clause : [(clause[0] as number) - 1, ...clause]));
}

/** Word indices of each clause, without the "and" before it. An "and" between two things of one clause ends none: what follows has no verb. */
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
