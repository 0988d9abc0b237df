/**
 * Sentence of a change: the decoded words without the clauses that contradict the kind, or a plain sentence instead.
 */
import type { Prediction } from '../model/calibration.js';
import { filterClausesByKind } from '../model/clauses.js';
import type { CaptionOutput } from '../model/graph-io.js';
import type { BundleManifest } from '../model/manifest.js';
import type { MapRegion } from '../model/regions.js';
import { type Sentence, toSentence, withWords } from '../model/tokenizer.js';
import { deniesChange, plainSentence } from '../model/wording.js';

export interface ChangeSentence {
  readonly sentence: Sentence;
  /** row t: attention of word t; no rows for a sentence that the decoder did not write */
  readonly attention: readonly Float32Array[];
}

/**
 * The decoder's sentence is replaced by a plain one if it denies the change; every word of that has the score of the
 * kind.
 * @param regions the strongest first
 * @throws RangeError if an id of the output is not a word of the vocabulary
 */
export function composeSentence(
  output: CaptionOutput,
  { kind }: Pick<Prediction, 'kind'>,
  regions: readonly MapRegion[],
  manifest: Pick<BundleManifest, 'vocabulary' | 'special'>,
): ChangeSentence {
  const decoded = toSentence(output.ids, output.logProbabilities, output.length, manifest);
  const kept = filterClausesByKind(
    decoded.words.map(({ text }) => text),
    kind.name,
  );
  const sentence = withWords(decoded, kept);
  if (sentence.words.length === 0 || deniesChange(sentence.text)) {
    return { sentence: uniformScores(plainSentence(kind.name, regions[0]?.box), kind.score), attention: [] };
  }
  return { sentence, attention: kept.map((word) => output.attention[word] as Float32Array) };
}

/** A sentence that no decoder wrote: every word has the score of the decision that the sentence states. */
export const uniformScores = (text: string, score: number): Sentence => ({
  text,
  score,
  words: text.split(' ').map((word) => ({ text: word, score })),
});
