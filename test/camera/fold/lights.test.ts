/** Things that come and go under one light, and the backgrounds of the others. */
import { describe, expect, it } from '@jest/globals';
import { withBlend } from '../../../src/camera/baseline/next.js';
import type { FrameEvidence } from '../../../src/camera/fold/evidence.js';
import { foldFrame } from '../../../src/camera/fold/fold.js';
import { nearestBackground } from '../../../src/camera/settings/background-model.js';
import type { Light } from '../../../src/camera/settings/light.js';
import { checkSettings } from '../../../src/camera/settings/settings.js';
import { initialCameraState } from '../../../src/camera/state/state.js';
import { absorbed, compare, contextOf, named, type Scene, timeOf } from '../../footage/made-scene.js';

const SIZE = { width: 300, height: 300 };
const SETTINGS = checkSettings({ examine_every_s: 0, memory: { absorb_s: 60 } });
const refOf = (sha256: string) => ({ from: 'stored', sha256, bytes: 1, contentType: 'image/jpeg' }) as const;
/** Capital letters have the thing; d, D: by day; n, N: infrared. */
const scenesOf = (frames: string) =>
  [...frames].map((letter): [Light, Scene] => [
    letter.toLowerCase() === 'd' ? 'day' : 'infrared',
    new Set(letter === letter.toLowerCase() ? [] : [4]),
  ]);

/** @returns the events by frame, and the changes as they are at the end */
function follow(frames: string) {
  let state = initialCameraState();
  const events: string[] = [];
  const visits: (string | null)[] = [];
  const changes = new Map<string, { kind: string; last: number; reverted: number | null }>();
  const stored = new Map<string, Scene>();
  const numberOf = (time: string) => (Date.parse(time) - Date.parse(timeOf(0))) / 1000;
  for (const [number, [light, scene]] of scenesOf(frames).entries()) {
    const nearest = nearestBackground(state.backgrounds, light);
    const shown = nearest === null ? null : (stored.get(nearest.background.frame.sha256) as Scene);
    const changed = shown === null ? null : named(compare(shown, scene));
    const evidence: FrameEvidence = {
      ...{ content: String(number), identical: false, frame: refOf(String(number)), examined: true },
      ...{ threshold: null, excluded: null },
      // Against a background of another light a comparison finds the switch alone.
      finding:
        changed !== null && nearest?.light !== light
          ? { ...changed, verdict: 'nuisance', kind: 'none', nuisance: [{ name: 'infrared', score: 1 }], regions: [] }
          : changed,
      baseline: {
        before: nearest && { frame: nearest.background.frame, at: nearest.background.learnedAt },
        candidate: { kind: 'background', light, ...SIZE, isStray: false },
        ...{ size: { size: SIZE }, skipped: false, reset: nearest === null, notes: [] },
      },
    };
    stored.set(String(number), scene);
    const folded = foldFrame(state, evidence, contextOf(SETTINGS, number));
    state = folded.state;
    if (folded.blend !== null && shown !== null) {
      stored.set(`${number}b`, absorbed(shown, scene, folded.blend.absorb));
      state = withBlend(state, folded.blend, refOf(`${number}b`));
    }
    for (const { type, visit } of folded.visits) if (type === 'visit.ended') visits.push(visit.gone?.before ?? null);
    for (const { change, event } of folded.changes) {
      if (event !== null && event !== 'change.persisting') events.push(`${number} ${event.slice(7)} ${change.kind}`);
      const { kind, last_seen: last, reverted_at: reverted } = change;
      changes.set(change.id, { kind, last: numberOf(last), reverted: reverted === null ? null : numberOf(reverted) });
    }
  }
  return { events, changes: [...changes.values()], visits };
}
const times = (letter: string, count: number) => letter.repeat(count);
const DAY = times('d', 5);
const NIGHT = times('n', 5);
/** Day and night without the thing, and a night in which it comes and settles. */
const SETTLED = DAY + NIGHT + times('N', 70);

describe('a thing that settles under one light', () => {
  it('and goes under it is reported once, though the background of the other light may show it', () => {
    const { events, changes, visits } = follow(
      `${DAY}${times('D', 80)}${times('N', 9)}${times('n', 30)}${times('d', 9)}`,
    );
    expect(events).toEqual(['6 opened appear', '65 settled appear', '95 reverted appear']);
    expect(changes).toEqual([{ kind: 'appear', last: 93, reverted: 94 }]);
    expect(visits).toEqual([timeOf(94)]);
  });

  it('and goes under another that shows it by then is reported once', () => {
    const { events, changes, visits } = follow(
      `${SETTLED}${times('D', 9)}${times('d', 30)}${times('n', 9)}${times('d', 9)}`,
    );
    expect(events.slice(1)).toEqual(['70 settled appear', '90 reverted appear']);
    expect(changes).toEqual([{ kind: 'appear', last: 88, reverted: 89 }]);
    expect(visits).toEqual([timeOf(89)]);
  });

  it('is seen no longer by the frames of a light whose background never showed it', () => {
    const { changes, visits } = follow(`${SETTLED}${times('d', 30)}${times('n', 9)}`);
    expect(visits).toEqual([timeOf(80)]);
    expect(changes).toEqual([{ kind: 'appear', last: 79, reverted: 110 }]);
  });

  it('and comes again after it has gone is another change', () => {
    const again = `${times('n', 9)}${times('d', 9)}${times('D', 9)}${times('d', 9)}`;
    const { changes } = follow(`${DAY}${NIGHT}${times('D', 80)}${times('N', 9)}${again}`);
    expect(changes.map(({ reverted }) => reverted)).toEqual([99, 126]);
  });
});
