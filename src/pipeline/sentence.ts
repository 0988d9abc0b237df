/**
 * Sentence and kind of a change. The sentence is composed of the statements of its locations; without any, it is what
 * the caption graph writes about all of them, without the clauses that contradict the kind, or a plain sentence.
 */
import type { Prediction } from '../model/calibration.js';
import { filterClausesByKind } from '../model/clauses.js';
import type { BundleManifest } from '../model/manifest.js';
import type { MapRegion } from '../model/regions.js';
import { joinSentences, type Sentence, toSentence, withWords } from '../model/tokenizer.js';
import { deniesChange, plainSentence } from '../model/wording.js';
import type { Description, LocationStatement, WordAttention } from './statements.js';

export interface ChangeSentence {
  readonly sentence: Sentence;
  readonly kind: Prediction['kind'];
  /** per word; null for a word that the caption graph did not write */
  readonly attention: readonly (WordAttention | null)[];
}

/** More clauses than an operator reads at once are left to the regions and statements. */
const MOST_CLAUSES = 2;
/**
 * Score from which the statement of a second location is used. Chosen on the development pairs from .5 to .7 in steps
 * of .05 (docs/model-card.md).
 */
const LEAST_SECOND_SCORE = 0.6;

/**
 * @param kind of the change as a whole; the kind of the chosen clauses replaces it if it contradicts them
 * @param regions the strongest first
 * @throws RangeError if an id of the output is not a word of the vocabulary
 */
export function composeSentence(
  description: Description,
  kind: Prediction['kind'],
  regions: readonly MapRegion[],
  manifest: Pick<BundleManifest, 'vocabulary' | 'special'>,
): ChangeSentence {
  const chosen = chosenStatements(description.statements);
  if (chosen.length === 0) return sentenceOfWhole(description, kind, regions, manifest);
  return {
    sentence: joinSentences(chosen.map(({ clause }) => clause)),
    kind: agreeing(kind, chosen),
    attention: chosen.flatMap(({ attention }, i): ChangeSentence['attention'] =>
      i === 0 ? attention : [null, ...attention],
    ),
  };
}

/** The strongest location, and a second one whose statement is certain enough; equal clauses are used once. */
function chosenStatements(statements: readonly LocationStatement[]): LocationStatement[] {
  const texts = statements.map(({ clause }) => clause.text);
  return statements
    .filter(({ clause }, i) => texts.indexOf(clause.text) === i && (i === 0 || clause.score >= LEAST_SECOND_SCORE))
    .slice(0, MOST_CLAUSES);
}

/** A change of several kinds may have clauses of one: the others are of locations without a clause. */
function agreeing(kind: Prediction['kind'], chosen: readonly LocationStatement[]): Prediction['kind'] {
  const [first, ...others] = new Set(chosen.map((statement) => statement.kind));
  const stated = first === undefined || others.length > 0 ? 'multi' : first;
  return kind.name === 'multi' ? kind : { ...kind, name: stated };
}

/** The sentence about all locations, or a plain one if it denies the change: its words have the score of the kind. */
function sentenceOfWhole(
  { whole, crops }: Description,
  kind: Prediction['kind'],
  regions: readonly MapRegion[],
  manifest: Pick<BundleManifest, 'vocabulary' | 'special'>,
): ChangeSentence {
  const decoded = toSentence(whole.ids, whole.logProbabilities, whole.length, manifest);
  const kept = filterClausesByKind(
    decoded.words.map(({ text }) => text),
    kind.name,
  );
  const sentence = withWords(decoded, kept);
  if (sentence.words.length === 0 || deniesChange(sentence.text)) {
    return { sentence: uniformScores(plainSentence(kind.name, regions[0]?.box), kind.score), kind, attention: [] };
  }
  return { sentence, kind, attention: kept.map((word) => ({ weights: whole.attention[word] as Float32Array, crops })) };
}

/** A sentence that no decoder wrote: every word has the score of the decision that the sentence states. */
export const uniformScores = (text: string, score: number): Sentence => ({
  text,
  score,
  words: text.split(' ').map((word) => ({ text: word, score })),
});
