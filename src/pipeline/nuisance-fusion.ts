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

/** Weights of the two logits of one nuisance; the fused probability is the sigmoid of the weighted sum. */
interface FusionWeights {
  readonly model: number;
  readonly evidence: number;
}
const EVIDENCE_ALONE: FusionWeights = { model: 0, evidence: 1 };
/** Gives the geometric mean of both odds. */
const EQUAL_WEIGHTS: FusionWeights = { model: 0.5, evidence: 0.5 };
/**
 * Nuisances that the evidence confuses with others: it takes leaves in the wind for rain and snow, the model does not.
 */
const LOW_TRUST_NUISANCES: ReadonlySet<NuisanceName> = new Set(['weather']);

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
    const modelLogit = nuisanceLogits[nuisances.indexOf(name)] ?? 0;
    const weights = LOW_TRUST_NUISANCES.has(name) ? EQUAL_WEIGHTS : EVIDENCE_ALONE;
    const fused = weights.model * modelLogit + weights.evidence * evidenceLogit(evidence.nuisances[name]);
    return { name, score: sigmoid(fused) };
  })
    .filter(({ name, score }) => score >= FITTED.nuisances[name].threshold)
    .sort((a, b) => b.score - a.score);
}
