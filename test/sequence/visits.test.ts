/** The visits of a camera in the fold of its frames: what counts as part of "before", and as a thing. */
import { expect, it } from '@jest/globals';
import { checkSettings } from '../../src/cameras/settings.js';
import { rulesOf } from '../../src/changes/rules.js';
import type { Finding } from '../../src/schemas/comparison.js';
import type { FrameEvidence } from '../../src/sequence/evidence.js';
import { initialCameraState } from '../../src/sequence/state.js';
import { concludeVisits, followVisits } from '../../src/sequence/visits.js';
import { at, BLACK, foldAll, walk } from '../visits/made-frames.js';

it('a settled change is a place of "before" only if "before" is learned', () => {
  const { state } = foldAll(walk(1, 5, 0));
  const places = ['memory', 'previous', 'reference'].map((before) => {
    const settings = checkSettings({ before });
    const frame = { camera: { id: 'yard', settings }, at: 0, comparisonId: 'cmp_4', rules: rulesOf('yard', settings) };
    const absorbed = [at(0.24)];
    return concludeVisits({ state, events: [] }, frame, { absorbed, updates: [] }).state.tracks[0]?.inBefore;
  });
  expect(places).toEqual([at(0.24), null, null]);
});

it('a part beside people is a thing if "before" is a picture without them, not if it is the frame before', () => {
  const region = { id: 1, side: 'after' as const, box: at(0.5), area: 0.1, score: 0.9 };
  const finding = { verdict: 'change', nuisance: [], regions: [region] } as unknown as Finding;
  const seen = [
    { region: 1, side: 'after' as const, box: at(0.5), colours: BLACK, filled: 0.9, beside: true as const },
  ];
  const tracks = ['memory', 'previous', 'reference'].map((before) => {
    const settings = checkSettings({ before });
    const frame = { camera: { id: 'yard', settings }, at: 0, comparisonId: 'cmp_4', rules: rulesOf('yard', settings) };
    const evidence = { baseline: { before: null }, examined: true, finding, seen } as unknown as FrameEvidence;
    return followVisits(initialCameraState(), evidence, frame, { finding, restart: false }).state.tracks.length;
  });
  expect(tracks).toEqual([1, 0, 1]);
});
