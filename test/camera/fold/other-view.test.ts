/** Pictures of other cameras, of the same shape, between the frames of a camera; and a camera that was turned. */
import { describe, expect, it } from '@jest/globals';
import type { StepResult } from '../../../src/camera/fold/step.js';
import { frameOf, noteCodes, type Scene, sequence } from '../../helpers/sequences.js';

const PERSON: Scene['things'] = [[100, 80, 30, 60, [200, 40, 40]]];
const FOREIGN = 3;
const NOON = Date.UTC(2026, 5, 1, 12);

async function run(camera: ReturnType<typeof sequence>, from: number, ...scenes: readonly Scene[]) {
  const results: StepResult[] = [];
  for (const [i, scene] of scenes.entries()) {
    const second = from + 10 * i;
    results.push(await camera.step(await frameOf({ noise: `at ${second}`, ...scene }), second));
  }
  return results;
}
const tampers = (results: readonly StepResult[]) => results.map(({ finding }) => finding.tamper?.[0]?.name);
const events = (results: readonly StepResult[]) =>
  results.flatMap(({ changes }) => changes.map(({ event, change }) => `${event} ${change.kind}`));
const other = { place: FOREIGN };

describe.each(['previous', 'memory', 'reference'])('with before: %s', (before) => {
  const begun = async (settings = {}) => {
    const camera = sequence({ before, ...settings });
    await run(camera, 0, {}, {}, {});
    return camera;
  };

  it.each([1, 2])('%s foreign picture(s) in a row leave the camera as it was', async (count) => {
    const camera = await begun();
    const { before: kept, backgrounds, tracker, noise } = camera.state();
    const foreign = await run(camera, 30, ...Array.from({ length: count }, () => other));
    expect(tampers(foreign)).toEqual(foreign.map(() => 'foreign_picture'));
    expect(noteCodes(foreign[0] as StepResult)).toContain('view_changed');
    expect(camera.state()).toMatchObject({ before: kept, backgrounds, tracker, noise });
    const [back] = await run(camera, 60, {});
    expect(back?.finding.verdict).toBe('none');
    expect(camera.state().otherView).toBeUndefined();
    expect(events([...foreign, back as StepResult])).toEqual([]);
  });

  it('foreign pictures by turns with its frames end no change, and open none', async () => {
    const camera = await begun();
    const opened = await run(camera, 30, { things: PERSON }, other, { things: PERSON }, other, { things: PERSON });
    expect(events(opened).filter((event) => /opened|reverted/.test(event))).toEqual(['change.opened appear']);
    expect(opened.at(-1)?.changes).toMatchObject([{ change: { last_seen: new Date(NOON + 70_000).toISOString() } }]);
  });

  it('two pictures of different cameras and a third are no new view', async () => {
    const camera = await begun();
    const foreign = await run(camera, 30, other, { place: 6 }, other, { place: 6 });
    expect(tampers(foreign)).toEqual(foreign.map(() => 'foreign_picture'));
    expect((await run(camera, 80, {}))[0]?.finding.verdict).toBe('none');
  });

  it('three frames of one new view replace the baseline, with an alert, a note and events', async () => {
    const camera = await begun({ alerts: { persist_s: 10 } });
    const { before: old } = camera.state();
    const three = await run(camera, 30, other, other, other);
    expect(tampers(three)).toEqual(['foreign_picture', 'foreign_picture', 'turned']);
    expect(three[2]?.cameraFrame.notes[0]).toMatchObject({ code: 'baseline_reset' });
    expect(three[2]?.cameraFrame.notes[0]?.detail).toContain(
      '3 of 3 frames in a row; this frame starts a new baseline',
    );
    expect(events(three)).toEqual(['change.opened tamper', 'change.settled tamper']);
    expect(three[2]?.alerts).toHaveLength(1);
    expect(three.flatMap(({ health }) => health.map(({ type }) => type))).toEqual([
      'camera.signal_lost',
      'camera.signal_back',
    ]);
    if (old !== null) expect(camera.state().before).not.toEqual(old);
    expect(Object.keys(camera.state().backgrounds).length).toBe(before === 'memory' ? 1 : 0);
    const after = await run(camera, 60, other, { ...other, things: PERSON }, { ...other, things: PERSON });
    expect(after[0]?.finding.verdict).toBe('none');
    expect(events(after)).toContain('change.opened appear');
  });
});
