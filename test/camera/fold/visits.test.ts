/** The visits of a camera in the fold of its frames: what counts as part of "before". */
import { expect, it } from '@jest/globals';
import { rulesOf } from '../../../src/camera/changes/rules.js';
import { concludeVisits } from '../../../src/camera/fold/visits.js';
import { checkSettings } from '../../../src/camera/settings/settings.js';
import { at, foldAll, walk } from '../visits/made-frames.js';

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
