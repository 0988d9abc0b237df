/**
 * What is said of a pair. The calibrated change probability decides the verdict, because it alone was tuned against false
 * alarms; kind, caption and regions follow it, so that no answer contradicts itself:
 * - of a sentence of several clauses those are left out that contradict the kind (model/clauses.ts);
 * - none and nuisance never carry a caption of a change, nor regions; the caption graph is not even asked;
 * - a change whose caption says that nothing changed gets a plain sentence from its kind and its strongest region;
 * - of a tampered camera nothing else is said: what its frame shows is not the scene.
 */

import type { Prediction } from '../model/calibration.js';
import type { MapRegion } from '../model/regions.js';
import type { Sentence } from '../model/tokenizer.js';
import {
  NOTHING_CHANGED,
  plainSentence,
  saysNothingChanged,
  tamperSentence,
  unchangedSentence,
} from '../model/wording.js';
import type { Finding, ModelUsed, Region, Viewpoint } from '../schemas/comparison.js';
import { type Evidence, hasMoved } from '../viewpoint/examine.js';

/** The pixels are the same: nobody needs a model to say so. */
export const identicalFinding = (): Finding => ({
  ...unchanged({ change: 0, nuisances: [] }, NOTHING_CHANGED),
  verdict: 'none',
  model: null,
});

/**
 * @param prediction one that is not `changed`
 * @param sentence the bundle's own, where it has one
 */
export function unchangedFinding(
  prediction: Prediction,
  model: ModelUsed,
  viewpoint: Viewpoint,
  sentence?: string,
): Finding {
  const strongest = prediction.nuisances[0]?.name;
  return {
    ...unchanged(prediction, sentence ?? unchangedSentence(strongest)),
    verdict: strongest === undefined ? 'none' : 'nuisance',
    model,
    viewpoint,
  };
}

/** @param tampers the surest first, at least one */
export function tamperedFinding(
  tampers: readonly NonNullable<Finding['tamper']>[number][],
  viewpoint: Viewpoint,
): Finding {
  const [surest] = tampers;
  if (surest === undefined) throw new RangeError('no tampering came, expected at least one');
  const sentence = evenly(tamperSentence(surest.name), surest.score);
  return {
    verdict: 'tamper',
    kind: 'none',
    nuisance: [],
    tamper: [...tampers],
    caption: sentence.text,
    caption_score: sentence.score,
    words: [...sentence.words],
    confidence: surest.score,
    severity: 'high',
    regions: [],
    model: null,
    viewpoint,
  };
}

/** How the camera moved, in pixels of `after` as it came; or why that cannot be said. @param width of that frame */
export function viewpointOf(evidence: Evidence, width: number): Viewpoint {
  const { registration, refusal } = evidence;
  if (registration === null) return { refused: refusal.reason, detail: refusal.detail };
  const round = (value: number, digits: number) => Math.round(value * 10 ** digits) / 10 ** digits;
  return {
    moved: hasMoved(evidence),
    shift_px: round(registration.shift * width, 2),
    rotation_deg: round(registration.rotationDegrees, 3),
    scale: round(registration.scale, 5),
    overlap: round(registration.overlap, 4),
    inliers: registration.inliers,
    residual_px: round(registration.residual * width, 3),
  };
}

/**
 * @param prediction one that is `changed`
 * @param sentence of `sentenceOfChange`
 * @param regions the strongest first
 */
export function changedFinding(
  prediction: Prediction,
  sentence: Sentence,
  regions: readonly MapRegion[],
  model: ModelUsed,
  viewpoint: Viewpoint,
): Finding {
  return {
    verdict: 'change',
    kind: prediction.kind.name as Finding['kind'],
    nuisance: [...prediction.nuisances],
    caption: sentence.text,
    caption_score: sentence.score,
    words: [...sentence.words],
    confidence: prediction.change,
    severity: 'medium',
    regions: regions.map((region, i): Region => ({ id: i + 1, ...region })),
    model,
    viewpoint,
  };
}

/** The caption graph's sentence, unless it denies the change: then a plain one, with the score of its kind. */
export function sentenceOfChange(
  caption: Sentence,
  prediction: Prediction,
  regions: readonly MapRegion[],
): { readonly sentence: Sentence; readonly replaced: boolean } {
  const replaced = caption.words.length === 0 || saysNothingChanged(caption.text);
  if (!replaced) return { sentence: caption, replaced };
  return {
    sentence: evenly(plainSentence(prediction.kind.name, regions[0]?.box), prediction.kind.score),
    replaced,
  };
}

function unchanged(prediction: Pick<Prediction, 'change' | 'nuisances'>, text: string) {
  const sentence = evenly(text, 1 - prediction.change);
  return {
    kind: 'none' as const,
    nuisance: [...prediction.nuisances],
    caption: sentence.text,
    caption_score: sentence.score,
    words: [...sentence.words],
    confidence: prediction.change,
    severity: 'info' as const,
    regions: [],
  };
}

/** A sentence that no decoder wrote: every word is as sure as what it is based on. */
function evenly(text: string, score: number): Sentence {
  return { text, score, words: text.split(' ').map((word) => ({ text: word, score })) };
}
