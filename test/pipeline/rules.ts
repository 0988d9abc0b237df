/** A verdict rule that leaves the model's logits as they are, and aligns whatever moved by a pixel of 640. */
import type { Bundle } from '../../src/model/manifest.js';
import { calibrationSha256, type VerdictRule } from '../../src/pipeline/nuisance-fusion.js';

export const ruleFor = (
  { sha256, manifest }: Pick<Bundle, 'sha256' | 'manifest'>,
  part: Partial<VerdictRule> = {},
): VerdictRule => ({
  format: 'scenedelta-verdict/1',
  bundle_sha256: sha256,
  calibration_sha256: calibrationSha256(manifest),
  align_from: 1 / 640,
  change: { offset: 0, model: 1, weights: {} },
  threshold: 0.5,
  operating_points: [{ false_alarm_rate: 0.01, threshold: 0.9, recall: 0.5 }],
  nuisances: { lighting: { offset: 0, model: 1, evidence: 1, threshold: 0.5 } },
  fitted: { command: 'none', figures: [] },
  ...part,
});
