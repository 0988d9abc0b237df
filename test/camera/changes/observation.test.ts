import { observationOf } from '../../../src/camera/changes/observation.js';
import type { Finding } from '../../../src/schemas/comparison.js';

describe('the verdict of an observation without a change', () => {
  const unchanged = (verdict: 'none' | 'nuisance', ...names: string[]): Finding => ({
    verdict,
    kind: 'none',
    nuisance: names.map((name) => ({ name, score: 0.9 })),
    caption: '',
    caption_score: 1,
    words: [],
    confidence: 0.1,
    severity: 'info',
    regions: [],
    model: null,
  });

  it.each<[string, Finding, 'none' | 'nuisance']>([
    ['none: a clear frame proves that earlier things are gone', unchanged('none'), 'none'],
    ['none: other light and shadows hide nothing', unchanged('nuisance', 'lighting', 'shadow'), 'none'],
    ['none: what lies on the lens hides its own part alone', unchanged('nuisance', 'lens'), 'none'],
    ['nuisance: weather may hide a thing', unchanged('nuisance', 'lighting', 'weather'), 'nuisance'],
    ['nuisance: a switch to infrared may hide a thing', unchanged('nuisance', 'ir_switch'), 'nuisance'],
    ['nuisance: defocus may hide a thing', unchanged('nuisance', 'defocus'), 'nuisance'],
  ])('%s', (_, finding, verdict) => {
    expect(observationOf(finding, { comparisonId: 'cmp_1', at: 0, frame: 0 }).verdict).toBe(verdict);
  });
});
