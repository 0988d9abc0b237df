/**
 * The setting of a frame as evidence for the names of its crops: vehicles are outdoors, so that the nouns of vehicles
 * are as probable as that the frame shows the outdoors.
 */
import { sigmoid } from '../base/logistic.js';
import type { CropNames, Features } from './graph-io.js';
import { type Names, widestWord } from './naming.js';

/**
 * @returns probability of the outdoors, 0..1: a logistic regression on the means of the features of a frame
 * @throws RangeError if the number of weights is not that of the features
 */
export function outdoors({ coarse }: Features, { weights, offset }: NonNullable<Names['setting']>): number {
  const cells = coarse.length / weights.length;
  if (!Number.isInteger(cells)) throw new RangeError(`${weights.length} weights, ${coarse.length} features`);
  let indoors = offset;
  for (const [i, weight] of weights.entries()) {
    let sum = 0;
    for (let at = i * cells; at < (i + 1) * cells; at++) sum += coarse[at] as number;
    indoors += (weight * sum) / cells;
  }
  return sigmoid(-indoors);
}

/** @param probability that the frame shows the outdoors, 0..1 */
export function namesInSetting({ nouns, colours }: CropNames, probability: number, names: Names): CropNames {
  const outside = Math.log(Math.max(LEAST, probability));
  return {
    nouns: nouns.map((logit, i) =>
      widestWord(names.nouns[i] as string, names.wider) === 'vehicle' ? logit + outside : logit,
    ),
    colours,
  };
}
/** A vehicle that the namer is certain of stays one in a hall. */
const LEAST = 0.0025;
