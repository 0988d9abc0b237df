/**
 * The measurements of each statement, from which `training.fits.facts` and `training.fits.counted` fit
 * `calibration.facts` of a bundle. `scenedelta evaluate --evidence` writes them.
 */
import type { Box, Side } from '../base/images.js';
import { logitOf } from '../base/logistic.js';
import { thirdOf } from '../language/place.js';
import type { PairNames } from '../model/graph-io.js';
import type { StatementKind } from '../schemas/comparison.js';
import { type ClauseEvidence, evidenceOf } from './clause-probability.js';
import type { Description, LocationStatement } from './location-statement.js';
import { agreement, depthOf, sideOf } from './place-facts.js';
import { statedPhrase } from './scored-words.js';

/** One statement as the captioner wrote it, and the probability that it gets by the present calibration. */
export interface StatementEvidence {
  readonly kind: StatementKind;
  readonly regions: readonly { readonly side: Side; readonly box: Box; readonly score: number }[];
  readonly probability: number;
  /** null: the caption graph judges no kind */
  readonly clause: ClauseEvidence | null;
  /** the place that the clause states, of a move its way, with the log-odds of all of its words; null: none */
  readonly stated: { readonly phrase: string; readonly logit: number; readonly agreement: number } | null;
  /** the third of the frame, and of a move the side that the regions moved to, and whether closer or further away */
  readonly third: string;
  readonly side: string | null;
  readonly depth: string | null;
  /** whether the first noun phrase states a count; null: there is no noun phrase */
  readonly counted: boolean | null;
}

/**
 * @param described before its statements are named
 * @param named the description with named statements
 * @param names of all crops, in their order
 * @param kinds of the manifest
 */
export function statementEvidence(
  described: Description,
  named: Description,
  names: readonly PairNames[],
  kinds: readonly string[],
): StatementEvidence[] {
  return described.statements.map((one, i) => {
    const { statement, regions } = one;
    const last = regions.at(-1);
    const [thing] = statement.things;
    return {
      kind: statement.kind,
      regions: regions.map(({ side, box, score }) => ({ side, box, score })),
      probability: (named.statements[i] as LocationStatement).probability,
      clause: evidenceOf(one, names, described.ends, kinds) ?? null,
      stated: statedIn(one),
      third: last === undefined ? '' : thirdOf(last.box),
      side: statement.kind === 'move' ? sideOf(regions) : null,
      depth: statement.kind === 'move' ? depthOf(regions) : null,
      counted: thing === undefined ? null : thing.count !== 1,
    };
  });
}

function statedIn({ statement, words, regions }: LocationStatement) {
  const isMove = statement.kind === 'move';
  const stated = statedPhrase(words, isMove ? 'way' : 'place', isMove ? statement.way : statement.place);
  if (stated === null) return null;
  const { value: phrase, probability } = stated;
  return { phrase, logit: logitOf(probability), agreement: isMove ? agreement(phrase, regions) : 0 };
}
