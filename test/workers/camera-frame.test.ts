import type { Finding } from '../../src/schemas/comparison.js';
import { observationOf } from '../../src/workers/camera-frame.js';

describe('what a frame without a change says of changes that were seen before', () => {
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
    ['that they are gone, where nothing is in the way', unchanged('none'), 'none'],
    ['the same in another light', unchanged('nuisance', 'lighting', 'shadow'), 'none'],
    ['nothing in fog', unchanged('nuisance', 'lighting', 'weather'), 'nuisance'],
    ['nothing once the camera sees by infrared', unchanged('nuisance', 'ir_switch'), 'nuisance'],
    ['nothing out of focus', unchanged('nuisance', 'defocus'), 'nuisance'],
  ])('%s', (_, finding, verdict) => {
    expect(observationOf(finding, { comparisonId: 'cmp_1', at: 0, frame: 0 }).verdict).toBe(verdict);
  });
});
