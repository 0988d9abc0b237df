/** What looks like tampering to the pixels is held against what the backbone sees. */
import { agreement } from '../model/agreement.js';
import { COARSE_STRIDE } from '../model/bundle.js';
import type { FeaturePair } from '../model/captioner.js';
import type { Manifest } from '../model/manifest.js';
import type { TamperName } from '../viewpoint/scores.js';

const ANOTHER_PLACE: readonly TamperName[] = ['blocked', 'turned', 'defocused'];

/**
 * A covered lens, a turned camera and one far out of focus show another place: where the features of most of the frame still
 * agree, what looked like that is a large change (a car that fills half of a bare yard) or another coding of the same picture. To
 * say "tampered" of a real change hides it, so all but darkness is believed only where the bundle can contradict it, and does not.
 * No tampering at all where the bundle is for a camera that moves.
 * @param named what the viewpoint's evidence names
 */
export function believableTampers<T extends { readonly name: TamperName }>(
  { camera, calibration, input }: Pick<Manifest, 'camera' | 'calibration' | 'input'>,
  named: readonly T[],
  { before, after }: FeaturePair,
): readonly T[] {
  if (camera === 'moving') return [];
  const least = calibration.least_agreement;
  if (named.length === 0) return named;
  const cells = (input.width * input.height) / COARSE_STRIDE ** 2;
  if (least !== undefined && agreement(before, after, cells) < least) return named;
  return named.filter(({ name }) => !ANOTHER_PLACE.includes(name));
}
