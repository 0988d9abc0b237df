/** What looks like tampering to the pixels is held against what the backbone sees. */
import { agreement } from '../model/agreement.js';
import { COARSE_STRIDE } from '../model/bundle.js';
import type { FeaturePair } from '../model/captioner.js';
import type { Manifest } from '../model/manifest.js';
import { type Evidence, joinedTampers, namedTampers } from '../viewpoint/examine.js';
import type { TamperName } from '../viewpoint/scores.js';

/**
 * To say "tampered" of a real change hides it, so evidence and features decide together, by a rule that was fitted to both. Where
 * the bundle cannot tell one place from another, only darkness is believed of the evidence alone. No tampering at all where the
 * bundle is for a camera that moves.
 * @returns the surest first
 */
export function believableTampers(
  { camera, calibration, input }: Pick<Manifest, 'camera' | 'calibration' | 'input'>,
  evidence: Evidence,
  { before, after }: FeaturePair,
): readonly { readonly name: TamperName; readonly score: number }[] {
  if (camera === 'moving') return [];
  const least = calibration.least_agreement;
  if (least === undefined) return namedTampers(evidence).filter(({ name }) => name === 'darkened');
  const cells = (input.width * input.height) / COARSE_STRIDE ** 2;
  return joinedTampers(evidence, agreement(before, after, cells) - least);
}
