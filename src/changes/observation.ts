/** Observation of the change tracker, from the finding of a comparison. */
import type { Finding } from '../schemas/comparison.js';
import type { Observation } from './state.js';

/** Nuisances that may hide a thing. A frame with only other nuisances proves an absence as a clear one does. */
const HIDING: ReadonlySet<string> = new Set(['ir_switch', 'weather', 'defocus']);
const mayHide = ({ nuisance }: Finding): boolean => nuisance.some(({ name }) => HIDING.has(name));

export const observationOf = (
  finding: Finding,
  frame: Pick<Observation, 'comparisonId' | 'at' | 'frame'>,
): Observation => ({
  ...frame,
  verdict: finding.verdict === 'nuisance' && !mayHide(finding) ? 'none' : finding.verdict,
  kind: finding.kind,
  confidence: finding.confidence,
  caption: finding.caption,
  regions: finding.regions.map(({ side, box, area, score, zone }) => ({
    side,
    box,
    area,
    score,
    zone: zone ?? null,
  })),
});
