/** Questions about a pair: is a sentence true of it? The truth check answers, without the captioner. */
import { invalidValue } from '../base/errors.js';
import { deniesChange } from '../language/plain.js';
import type { CheckManifest } from '../model/check-schema.js';
import { readSentence } from '../model/check-words.js';
import type { CheckOutput } from '../model/graph-io.js';
import type { BundleManifest } from '../model/manifest.js';
import type { CheckAnswer } from '../schemas/ask.js';
import type { Finding } from '../schemas/comparison.js';
import { judge } from './truth-check.js';

/** A sentence in the words of a truth check. */
export interface ReadQuestion {
  readonly sentence: string;
  readonly words: readonly string[];
  readonly unknown: readonly string[];
  readonly check: CheckManifest;
}

/** Unknown words that an error names. */
const MOST_NAMED = 5;

/** @throws ScenedeltaError invalid-value (field sentence) if there is no truth check, or no word that it knows */
export function readQuestion(sentence: string, { name, check, search }: BundleManifest): ReadQuestion {
  if (check === undefined) {
    const detail = `the model ${name} has no truth check, expected one whose answers have \`check\``;
    throw invalidValue(detail, 'sentence');
  }
  const { words, unknown } = readSentence(inKnownNouns(sentence, check, search?.synonyms), check);
  if (words.length > 0) return { sentence, words, unknown, check };
  const named = unknown.slice(0, MOST_NAMED).join(', ') || 'no word came';
  throw invalidValue(
    `the model knows no word of the sentence (${named}), expected one such as "a car has left"`,
    'sentence',
  );
}

/** The sentence with nouns that the check knows instead of unknown synonyms, such as "truck" for "lorry". */
function inKnownNouns(
  sentence: string,
  { vocabulary }: CheckManifest,
  synonyms: Readonly<Record<string, string>> = {},
): string {
  const known = new Set(vocabulary);
  return sentence.replace(/[\p{L}\p{N}]+/gu, (word) => {
    const lower = word.toLowerCase();
    return known.has(lower) ? word : (synonyms[lower] ?? word);
  });
}

export function answerOf({ sentence, words, unknown, check }: ReadQuestion, output: CheckOutput): CheckAnswer {
  const { p, facts } = judge(words, output, check);
  return { sentence, p, read_as: words.join(' '), unknown_words: [...unknown], facts };
}

const NO_FACTS: CheckAnswer['facts'] = { action: null, noun: null, colour: null, place: null, count: null };

/** The answer about identical frames, of which only the denial of a change is true, or about a tampered view. */
export function answerWithoutModel({ sentence, words, unknown }: ReadQuestion, { verdict }: Finding): CheckAnswer {
  const readAs = words.join(' ');
  const p = verdict === 'none' && deniesChange(readAs) ? 1 : 0;
  return { sentence, p, read_as: readAs, unknown_words: [...unknown], facts: NO_FACTS };
}
