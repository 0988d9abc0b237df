/** Descriptions of labelled pairs by a language model: how many were asked for, accepted and refused, and why. */
import type { Description } from '../schemas/description.js';
import type { Pair } from './pairs.js';
import type { Prediction } from './predictions.js';
import { type Proportion, proportionOf } from './statistics.js';

/** The rest of the figures, such as inverted directions, is in the row of the sentences with those of the describer. */
export interface DescribedFigures {
  /** unchanged pairs that were described; 0 unless the captioner raises a false alarm */
  readonly unchangedAsked: Proportion;
  /** changed pairs that were described */
  readonly changedAsked: Proportion;
  /** of all descriptions */
  readonly accepted: Proportion;
  /** number of descriptions per reason against them */
  readonly reasons: Readonly<Record<string, number>>;
  /** of descriptions with an answer; null without any */
  readonly meanMs: number | null;
  /** of all answers, as the server counts them */
  readonly tokens: number;
}

/** @param descriptions one per pair; null: it was not asked for */
export function describedFigures(
  pairs: readonly Pair[],
  descriptions: readonly (Description | null)[],
): DescribedFigures {
  const asked = (changed: boolean) =>
    proportionOf(pairs.flatMap((pair, i) => (pair.changed === changed ? [descriptions[i] != null] : [])));
  const all = descriptions.filter((one) => one !== null);
  const answered = all.filter(({ model }) => model !== null);
  const reasons: Record<string, number> = {};
  for (const { reason } of all) if (reason !== null) reasons[reason.code] = (reasons[reason.code] ?? 0) + 1;
  return {
    unchangedAsked: asked(false),
    changedAsked: asked(true),
    accepted: proportionOf(all.map(({ status }) => status === 'accepted')),
    reasons,
    meanMs: answered.length === 0 ? null : answered.reduce((sum, { ms }) => sum + ms, 0) / answered.length,
    tokens: answered.reduce((sum, { tokens }) => sum + (tokens === null ? 0 : tokens.prompt + tokens.completion), 0),
  };
}

/** The predictions, with the accepted sentences in place of the captioner's. */
export const withDescriptions = (
  predictions: readonly Prediction[],
  descriptions: readonly (Description | null)[],
): Prediction[] =>
  predictions.map((prediction, i) => ({ ...prediction, caption: descriptions[i]?.sentence ?? prediction.caption }));
