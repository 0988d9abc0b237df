import { describe, expect, it } from '@jest/globals';
import { advance } from '../../../src/camera/changes/advance.js';
import { pendingChanges } from '../../../src/camera/changes/pending.js';
import { initialTrackerState } from '../../../src/camera/changes/state.js';
import { observed, RULES, regionAt, START } from './scenario.js';

describe('pending changes', () => {
  const rules = { ...RULES, confirmFrames: 3 };
  const trackerAfter = (frames: readonly boolean[]) =>
    frames.reduce((state, seen, i) => {
      const at = START + i * 1_000;
      const observation = seen ? observed(at, { regions: [regionAt(0)] }) : observed(at);
      return advance(state, observation, rules).state;
    }, initialTrackerState());

  it('count the frames in a row that showed them, up to the confirmation', () => {
    const details = [[true], [true, true], [true, false, true], [true, true, true]].map((frames) =>
      pendingChanges(trackerAfter(frames), rules).map(({ frames: count, detail }) => [count, detail]),
    );
    const waits = (count: number) => [count, `a change waits for its confirmation: ${count} of 3 frames in a row`];
    expect(details).toEqual([[waits(1)], [waits(2)], [waits(1)], []]);
  });

  it('name the time that they must last', () => {
    expect(pendingChanges(trackerAfter([true]), { ...rules, persistMs: 30_000 })).toEqual([
      {
        first_seen: new Date(START).toISOString(),
        frames: 1,
        confirm_frames: 3,
        detail: 'a change waits for its confirmation: 1 of 3 frames in a row, and at least 30 s (persist_s)',
      },
    ]);
  });
});
