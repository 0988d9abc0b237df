/** Statements about locations from their text, for tests. */
import type { ChangeStatement } from '../../src/language/plain.js';
import { readClauses } from '../../src/language/read-clauses.js';
import type { LocationStatement } from '../../src/pipeline/location-statement.js';
import type { ScoredWord } from '../../src/pipeline/scored-words.js';

interface Given extends Partial<LocationStatement> {
  readonly score?: number;
  /** attention of word t; default: [t] */
  readonly mark?: (t: number) => number;
  readonly crops?: readonly LocationStatement['regions'][number]['box'][];
}

/** @param text one clause of the captions' grammar */
export function located(
  text: string,
  { score = 0.5, mark = (t) => t, crops = [], ...given }: Given = {},
): LocationStatement {
  const [clause] = readClauses(text.split(' '));
  if (clause?.statement == null) throw new Error(`"${text}" is no clause of the captions' grammar`);
  const statement = clause.statement as ChangeStatement;
  const words = text.split(' ').map((word, t): ScoredWord => {
    const role = clause.roles[t] ?? { role: 'verb', thing: null };
    return { text: word, score, ...role, attention: { weights: Float32Array.of(mark(t)), crops } };
  });
  return { fact: null, statement, regions: [], words, probability: score, ...given };
}
