/**
 * The measurements of each statement, from which `training.fits.facts` and `training.fits.counted` fit
 * `calibration.facts` of a bundle. `scenedelta evaluate --evidence` writes them.
 */
import type { Box, Side } from '../images.js';
import { logitOf } from '../logistic.js';
import type { PairNames } from '../model/graph-io.js';
import { nounPhrasesOf } from '../model/noun-phrase.js';
import type { StatementKind } from '../schemas/comparison.js';
import { type ClauseEvidence, evidenceOf } from './clause-probability.js';
import { agreement, findPlace, findWay, sideOf, thirdOf } from './place-facts.js';
import type { Description, LocationStatement } from './statements.js';

/** One statement as the captioner wrote it, and the probability that it gets by the present calibration. */
export interface StatementEvidence {
  readonly kind: StatementKind;
  readonly regions: readonly { readonly side: Side; readonly box: Box; readonly score: number }[];
  readonly probability: number;
  /** null: the caption graph judges no kind */
  readonly clause: ClauseEvidence | null;
  /** the place that the clause states, of a move its way, with the log-odds of all of its words; null: none */
  readonly stated: { readonly phrase: string; readonly logit: number; readonly agreement: number } | null;
  /** the third of the frame, and of a move the side that the regions moved to */
  readonly third: string;
  readonly side: string | null;
  /** whether the first noun phrase states a count; null: there is no noun phrase */
  readonly counted: boolean | null;
}

/**
 * @param described before its statements are named; named: the same after it
 * @param names of all crops, in their order
 * @param kinds of the manifest
 */
export function statementEvidence(
  described: Description,
  named: Description,
  names: readonly PairNames[],
  kinds: readonly string[],
): StatementEvidence[] {
  return described.statements.map((statement, i) => {
    const { kind, regions, clause } = statement;
    const words = clause.words.map(({ text }) => text);
    const [phrase] = nounPhrasesOf(words);
    const last = regions.at(-1);
    return {
      kind,
      regions: regions.map(({ side, box, score }) => ({ side, box, score })),
      probability: (named.statements[i] as LocationStatement).probability,
      clause: evidenceOf(statement, names, described.ends, kinds) ?? null,
      stated: statedIn(statement, words),
      third: last === undefined ? '' : thirdOf(last.box),
      side: kind === 'move' ? sideOf(regions) : null,
      counted: phrase === undefined ? null : phrase.count !== null,
    };
  });
}

function statedIn({ kind, clause, regions }: LocationStatement, words: readonly string[]) {
  const at = kind === 'move' ? findWay(words) : findPlace(words);
  if (at === null) return null;
  const phrase = words.slice(at.from, at.to).join(' ');
  const probability = clause.words.slice(at.from, at.to).reduce((product, { score }) => product * score, 1);
  return { phrase, logit: logitOf(probability), agreement: kind === 'move' ? agreement(phrase, regions) : 0 };
}
