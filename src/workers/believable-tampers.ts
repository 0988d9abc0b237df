/** What looks like tampering to the pixels is held against what the backbone sees. */
import { agreement } from '../model/agreement.js';
import type { FeaturePair } from '../model/captioner.js';
import { COARSE_STRIDE, type Manifest } from '../model/manifest.js';
import type { TamperName } from '../viewpoint/scores.js';

const ANOTHER_PLACE: readonly TamperName[] = ['blocked', 'turned'];

/**
 * A covered lens and a turned camera show another place: where the features of most of the frame still agree, what looked like
 * that is a large change, such as a car that fills half of a bare yard. Without tampering where the bundle is for a camera that moves.
 * @param named what the viewpoint's evidence names
 */
export function believableTampers<T extends { readonly name: TamperName }>(
  { camera, calibration, input }: Pick<Manifest, 'camera' | 'calibration' | 'input'>,
  named: readonly T[],
  { before, after }: FeaturePair,
): readonly T[] {
  if (camera === 'moving') return [];
  const least = calibration.least_agreement;
  if (least === undefined || named.length === 0) return named;
  const cells = (input.width * input.height) / COARSE_STRIDE ** 2;
  if (agreement(before, after, cells) < least) return named;
  return named.filter(({ name }) => !ANOTHER_PLACE.includes(name));
}
