/** Statements of a bundle that names nothing: per location the first clause of the caption graph that fits it. */

import type { Side } from '../base/images.js';
import { isChangeStatement } from '../language/plain.js';
import { readClauses } from '../language/read-clauses.js';
import type { CaptionOutput } from '../model/graph-io.js';
import type { BundleManifest } from '../model/manifest.js';
import { toClause, toSentence, withWords } from '../model/tokenizer.js';
import { SIDES_OF_KIND } from '../schemas/kinds.js';
import type { LocationCrop, LocationStatement } from './location-statement.js';
import { decodedWords } from './scored-words.js';

/** @param outputs one per crop */
export const decodedStatements = (
  crops: readonly LocationCrop[],
  outputs: readonly CaptionOutput[],
  manifest: Pick<BundleManifest, 'vocabulary' | 'special'>,
): LocationStatement[] =>
  crops.flatMap(({ crop, regions }, i) => {
    const output = outputs[i] as CaptionOutput;
    const sentence = toSentence(output.ids, output.logProbabilities, output.length, manifest);
    for (const clause of readClauses(sentence.words.map(({ text }) => text))) {
      const { statement } = clause;
      if (statement === null || !isChangeStatement(statement)) continue;
      const sides: readonly Side[] = SIDES_OF_KIND[statement.kind];
      if (!sides.every((side) => regions.some((region) => region.side === side))) continue;
      const rows = clause.words.map((word) => output.attention[word] as Float32Array);
      const words = decodedWords(withWords(sentence, clause.words), clause.roles, rows, [crop]);
      const shown = regions.filter(({ side }) => sides.includes(side));
      return [{ facts: [], statement, regions: shown, words, probability: toClause(words).score }];
    }
    return [];
  });
