/** Fusion of the viewpoint's tamper scores with the agreement of the backbone's features. */
import { agreement } from '../model/agreement.js';
import { COARSE_STRIDE } from '../model/bundle.js';
import type { FeaturePair } from '../model/graph-io.js';
import type { BundleManifest } from '../model/manifest.js';
import type { SignalReason } from '../schemas/loss.js';
import { joinedTampers, namedTampers, showsOtherView, type ViewpointEvidence } from '../viewpoint/evidence.js';
import type { TamperName } from '../viewpoint/scores.js';

export interface Tamper {
  readonly name: TamperName | SignalReason | 'covered';
  /** probability, 0..1 */
  readonly score: number;
}

/**
 * A false "tampered" hides a real change, so a rule that was fitted to both decides from evidence and features
 * together. If the bundle has no `least_agreement`, the evidence alone names darkness and nothing else. A bundle for a
 * moving camera has no tampering.
 * @param ofCamera `after` is a frame of a camera: one of another view is a foreign picture, until the sequence knows
 *   that the camera was turned
 * @returns the most probable first
 */
export function fuseTampers(
  { camera, calibration, input }: Pick<BundleManifest, 'camera' | 'calibration' | 'input'>,
  evidence: ViewpointEvidence,
  { before, after }: FeaturePair,
  ofCamera: boolean,
): readonly Tamper[] {
  if (camera === 'moving') return [];
  if (ofCamera && showsOtherView(evidence)) return [{ name: 'foreign_picture', score: evidence.tampers.turned }];
  const least = calibration.least_agreement;
  if (least === undefined) return namedTampers(evidence).filter(({ name }) => name === 'darkened');
  const cells = (input.width * input.height) / COARSE_STRIDE ** 2;
  return joinedTampers(evidence, agreement(before, after, cells) - least);
}
