/**
 * Fusion of the model's prediction with the evidence of the viewpoint. The model alone decides whether the scene
 * changed. The evidence decides which of the nuisances that it measures are present, for weather together with the
 * model: half of the nuisances that the model alone names on real pairs are true, and it misses most
 * (test/bench/HISTORY.md).
 */
import { sigmoid } from '../base/logistic.js';
import { type Prediction, predictionOf } from '../model/calibration.js';
import type { Difference } from '../model/graph-io.js';
import type { BundleManifest } from '../model/manifest.js';
import { showsTooLittle, type ViewpointEvidence } from '../viewpoint/evidence.js';
import { FITTED } from '../viewpoint/fitted.js';
import type { Registration } from '../viewpoint/registration.js';
import { evidenceLogit, NUISANCES, type NuisanceName } from '../viewpoint/scores.js';

/**
 * The nuisance that the evidence confuses with another: it takes leaves in the wind for rain and snow, the model does
 * not. Its odds are the geometric mean of both.
 */
const LOW_TRUST: NuisanceName = 'weather';

/**
 * @returns the registration by which `after` must be warped to the view of `before`; null if the camera moved less than
 *   the manifest's `align_from`, if the manifest has none, or if registration refused
 */
export function chooseAlignment(
  { registration }: ViewpointEvidence,
  { align_from: alignFrom }: Pick<BundleManifest, 'align_from'>,
): Registration | null {
  if (registration === null || alignFrom === undefined) return null;
  return registration.displacement >= alignFrom ? registration : null;
}

/**
 * The model's prediction with its nuisances replaced by the fused ones. Measured nuisances come first, because the
 * first nuisance chooses the sentence of an unchanged pair.
 * @param threshold of the probability of a change, 0..1; null or absent = the manifest's
 */
export function fuse(
  difference: Pick<Difference, 'changeLogit' | 'kindLogits' | 'nuisanceLogits'>,
  evidence: ViewpointEvidence,
  manifest: BundleManifest,
  threshold?: number | null,
): Prediction {
  const prediction = predictionOf(difference, manifest, threshold ?? manifest.calibration.threshold);
  if (showsTooLittle(evidence)) return prediction; // the pixels carry nothing to measure
  const unmeasured = prediction.nuisances.filter(({ name }) => !NUISANCES.some((measured) => measured === name));
  return { ...prediction, nuisances: [...measuredNuisances(difference, evidence, manifest), ...unmeasured] };
}

/** The nuisances whose fused probability reaches the threshold of the evidence, the most probable first. */
function measuredNuisances(
  { nuisanceLogits }: Pick<Difference, 'nuisanceLogits'>,
  evidence: ViewpointEvidence,
  { nuisances }: Pick<BundleManifest, 'nuisances'>,
): Prediction['nuisances'] {
  return NUISANCES.map((name) => {
    const measured = evidenceLogit(evidence.nuisances[name]);
    const ofModel = nuisanceLogits[nuisances.indexOf(name)] ?? 0;
    return { name, score: sigmoid(name === LOW_TRUST ? (ofModel + measured) / 2 : measured) };
  })
    .filter(({ name, score }) => score >= FITTED.nuisances[name].threshold)
    .sort((a, b) => b.score - a.score);
}
