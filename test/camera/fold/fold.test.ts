/** One fold under live cameras, archives and dry runs. test/footage/dry-run.test.ts has the dry runs. */
import fc from 'fast-check';
import { withBlend } from '../../../src/camera/baseline/next.js';
import type { FrameEvidence } from '../../../src/camera/fold/evidence.js';
import { foldFrame } from '../../../src/camera/fold/fold.js';
import { checkSettings } from '../../../src/camera/settings/settings.js';
import type { CameraState } from '../../../src/camera/state/state.js';
import { initialCameraState } from '../../../src/camera/state/state.js';
import { contextOf, run, type Scene, scenes, updatesOf } from '../../footage/made-scene.js';

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value));
/** The state without what alerts alone add to it. */
const withoutAlerts = (state: CameraState): unknown =>
  JSON.parse(
    JSON.stringify(state, (key, value) =>
      ['cooldowns', 'serial', 'lastAlerted', 'alerted_at'].includes(key) ? undefined : value,
    ),
  );

/** Things stay for up to 80 s. */
const slowly = (scene: Scene): Scene[] => [scene, scene, scene, scene];

describe.each(['previous', 'reference', 'memory'] as const)('the fold against %s', (before) => {
  // Every frame is examined once in a while, and things are absorbed within the run.
  const settings = checkSettings({ before, memory: { absorb_s: 60 }, examine_every_s: 15 });

  it('of an archive, with evidence that was made before, gives the changes and the state of the live camera', () => {
    fc.assert(
      fc.property(scenes, fc.integer({ min: 1, max: 20 }), (made, chunk) => {
        const live = run(made.flatMap(slowly), settings);
        let state = initialCameraState();
        for (const [number, json] of live.evidence.entries()) {
          const evidence: FrameEvidence = JSON.parse(json);
          const folded = foldFrame(state, evidence, contextOf(settings, number, false));
          expect(updatesOf(folded)).toBe(live.updates[number]);
          expect(folded.alerts).toEqual([]);
          const { blend } = folded;
          const stored = { from: 'stored', sha256: `${number} blended`, bytes: 1, contentType: 'image/jpeg' } as const;
          state = blend === null ? folded.state : withBlend(folded.state, blend, stored);
          // A chunk ends here: the state is saved and read again.
          if (number % chunk === 0) state = copy(state);
        }
        expect(withoutAlerts(state)).toEqual(withoutAlerts(live.state));
      }),
      { numRuns: 15 },
    );
  });

  it('alters neither the state nor the evidence, and a repeated frame gives the same result', () => {
    fc.assert(
      fc.property(scenes, (made) => {
        const { evidence } = run(made.flatMap(slowly), settings);
        let state = initialCameraState();
        for (const [number, json] of evidence.entries()) {
          const [given, shown] = [copy(state), JSON.parse(json)];
          const folded = foldFrame(state, shown, contextOf(settings, number));
          expect([state, JSON.stringify(shown)]).toEqual([given, json]);
          expect(copy(foldFrame(given, shown, contextOf(settings, number)))).toEqual(copy(folded));
          state = folded.state;
        }
      }),
      { numRuns: 5 },
    );
  });
});
