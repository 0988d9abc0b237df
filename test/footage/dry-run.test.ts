import fc from 'fast-check';
import { checkSettings } from '../../src/camera/settings/settings.js';
import type { FrameStats } from '../../src/footage/records.js';
import { type DryRun, dryRun } from '../../src/footage/replay/camera-replay.js';
import { compare, run, type Scene, START, STEP_MS, scenes, timeOf } from './made-scene.js';

type Settings = object;
const settingsWith = (settings: Settings) => checkSettings({ before: 'previous', ...settings });
const RECORDED = settingsWith({});
const UNKNOWN = { points: [], threshold: null };

async function replay(stats: readonly FrameStats[], settings: Settings, bundle: object = {}): Promise<DryRun> {
  const [result, ...others] = await dryRun(stats, settingsWith(settings), { ...UNKNOWN, ...bundle });
  expect(others).toEqual([]);
  if (result === undefined) throw new Error('no result');
  return result;
}
/**
 * Sorted: the alerts of one frame have no order of their own. Whether a thing that left its place is in view elsewhere
 * may be known from a frame that the recorded run did not examine.
 */
const sorted = (alerts: readonly string[]) =>
  alerts.map((alert) => alert.replace('is no longer there', 'has disappeared')).sort();
const alertsOf = ({ alerts }: DryRun) =>
  sorted(alerts.map(({ type, moment, kind, caption }) => `${type} at ${moment.seconds}: ${kind}, ${caption}`));
const changesOf = ({ changes }: DryRun) => changes.map(({ kind, confirmed }) => `${kind} at ${confirmed.at}`);

describe('a dry run finds the alerts that decoding again would find', () => {
  it.each(['previous', 'reference', 'memory'] as const)('with the rules of a run against %s', async (before) => {
    await fc.assert(
      fc.asyncProperty(scenes, async (made) => {
        const recorded = run(made, checkSettings({ before }));
        const result = await replay(recorded.stats, { before });
        expect(alertsOf(result)).toEqual(sorted(recorded.alerts));
        expect(changesOf(result)).toEqual(recorded.changes);
      }),
      { numRuns: 25 },
    );
  });

  const left = {
    id: 'left',
    type: 'ignore',
    polygon: [
      [0, 0],
      [0.5, 0],
      [0.5, 1],
      [0, 1],
    ],
  };
  it.each<[string, Settings]>([
    ['with a zone that is ignored', { zones: [left] }],
    ['with a zone alone', { zones: [{ ...left, type: 'include' }] }],
    [
      'with a longer cool-down and a severity that causes no alert',
      { alerts: { cooldown_s: 3600, min_severity: 'high' } },
    ],
    ['at once, without confirmation', { alerts: { confirm_frames: 1 } }],
    ['with four frames to confirm', { alerts: { confirm_frames: 4 } }],
    ['for things that stay 5 s', { alerts: { persist_s: 5 } }],
  ])('%s', async (_name, settings) => {
    await fc.assert(
      fc.asyncProperty(scenes, async (made) => {
        const result = await replay(run(made, RECORDED).stats, settings);
        expect(alertsOf(result)).toEqual(sorted(run(made, settingsWith(settings)).alerts));
      }),
      { numRuns: 25 },
    );
  });
});

describe('the result of a dry run', () => {
  const visit = (from: number, to: number, frames: number): Scene[] =>
    Array.from({ length: frames }, (_, i) => new Set(i >= from && i < to ? [4] : []));
  const made = run(visit(10, 40, 61), RECORDED);
  /** The evidence with another confidence in the frames that show a change. */
  const withConfidence = (confidence: number): FrameStats[] =>
    made.stats.map((frame) =>
      frame.finding?.verdict === 'change' ? { ...frame, finding: { ...frame.finding, confidence } } : frame,
    );

  it('counts the alerts per day of the time that the frames cover, the gaps excluded', async () => {
    const result = await replay(made.stats, {});
    expect(result).toMatchObject({ camera: 'yard', frames: 61, seconds: 60, suppressed: 0, threshold: null });
    expect(result.alerts).toHaveLength(2);
    expect(result.alertsPerDay).toBeCloseTo((2 * 86_400) / 60);
    const later = made.stats.map((frame, i) => ({ ...frame, time: frame.time + (i > 50 ? 7_200_000 : 0) }));
    expect((await replay(later, {})).seconds).toBe(59);
  });

  it('counts the time between snapshots that come less often than a gap is long', async () => {
    const hourly = made.stats.map((frame, i) => ({ ...frame, time: START + i * 3_600_000 }));
    expect((await replay(hourly, {})).seconds).toBe(60 * 3600);
  });

  it('drops the changes before a gap, as the run does', async () => {
    // The thing comes, there is a pause, and it goes after the pause.
    const later = run(visit(0, 10, 20), RECORDED);
    const shift = ({ gap: _gap, ...frame }: FrameStats): FrameStats => {
      const at = (text: string | null) => text && new Date(Date.parse(text) + 7_200_000).toISOString();
      const before = frame.before == null ? null : { ...frame.before, captured_at: at(frame.before.captured_at) };
      return { ...frame, at: at(frame.at), before, time: frame.time + 7_200_000, number: frame.number + 20 };
    };
    const withGap = (gap: boolean) => {
      const [first, ...others] = later.stats.map(shift);
      if (first === undefined) throw new Error('there is a frame');
      return [...run(visit(10, 20, 20), RECORDED).stats, { ...first, gap }, ...others];
    };
    const typesOf = ({ alerts }: DryRun) => alerts.map(({ type }) => type);
    expect(typesOf(await replay(withGap(true), {}))).toEqual(['change.opened', 'change.opened']);
    // "before" was replaced without a pause: the end of the thing is seen.
    expect(typesOf(await replay(withGap(false), {}))).toEqual(['change.opened', 'change.reverted']);
  });

  it('settles the open changes after a frame that became the background of its light', async () => {
    const withReset = (number: number): FrameStats[] =>
      Array.from({ length: 20 }, (_, i) => ({
        ...{ v: 1, camera: 'yard', number: i, at: timeOf(i), file: 'yard.mp4', seconds: i, time: START + i * STEP_MS },
        ...{ examined: true, score: null, threshold: null, before: { mode: 'memory', captured_at: timeOf(0) } },
        ...(i === number ? { reset: 'after' as const, gap: false } : {}),
        finding: compare(new Set(), new Set(i >= 5 && i <= number ? [4] : [])),
      }));
    const [settled] = (await replay(withReset(10), { before: 'memory' })).changes;
    expect([settled?.status, settled?.settled?.at]).toEqual(['persisting', timeOf(10)]);
    const [open] = (await replay(withReset(20), { before: 'memory' })).changes;
    expect(open?.settled).toBeNull();
  });

  it('applies the threshold of the bundle if the run had another one, and refuses if it is unknown', async () => {
    // A quiet frame repeats an answer and has no threshold of its own.
    const stats = withConfidence(0.8).map((frame) => ({ ...frame, threshold: frame.finding === null ? null : 0.3 }));
    await expect(replay(stats, {})).rejects.toThrow('were compared with the threshold 0.3, and the settings have none');
    expect((await replay(stats, {}, { threshold: 0.5 })).alerts).toHaveLength(2);
    expect((await replay(stats, {}, { threshold: 0.9 })).alerts).toEqual([]);
  });

  it('names the frame, the sentence and the change of each alert', async () => {
    const { alerts, changes } = await replay(made.stats, {});
    const [opened] = alerts;
    expect(opened).toMatchObject({ type: 'change.opened', camera: 'yard', moment: { file: 'yard.mp4', seconds: 11 } });
    expect(opened?.caption).toBe(changes[0]?.caption);
    expect(changes.map(({ id, reverted }) => [id, reverted?.seconds])).toEqual([[opened?.change, 40]]);
  });

  it('applies a threshold above the confidence of the frames', async () => {
    expect((await replay(withConfidence(0.8), { threshold: 0.75 })).alerts).toHaveLength(2);
    const stricter = await replay(withConfidence(0.8), { threshold: 0.85 });
    expect(stricter).toMatchObject({ alerts: [], undecided: 0, threshold: 0.85 });
  });

  it('counts the frames that only a lower threshold than the recorded one would show', async () => {
    const [first, second] = made.stats;
    if (first === undefined || second === undefined) throw new Error('the run has two frames');
    const finding = { ...compare(new Set(), new Set()), confidence: 0.4 };
    const raised = [first, { ...second, examined: true, finding }];
    expect((await replay(raised, { threshold: 0.5 })).undecided).toBe(0);
    expect((await replay(raised, { threshold: 0.3 })).undecided).toBe(1);
  });

  it('applies the threshold of a false-alarm budget, from the operating points of the bundle', async () => {
    const points = [
      { false_alarm_rate: 0.001, threshold: 0.95 },
      { false_alarm_rate: 0.008, threshold: 0.7 },
    ];
    // One frame per second: 86.4 alarms per day are a rate of 0.001.
    const strict = await replay(withConfidence(0.8), { false_alarms_per_day: 86.4 }, { points });
    expect(strict.threshold).toBeCloseTo(0.95);
    expect(strict.alerts).toEqual([]);
    // The confidence of 0.8 counts against the camera: its own frames look changed more often than the measured pairs.
    expect(strict.budget).toMatchObject({ met: false, frames: made.stats.length });
    expect(strict.budget?.rate_ratio).toBeGreaterThan(1);
    const loose = await replay(withConfidence(0.8), { false_alarms_per_day: 1000 }, { points });
    expect(loose.threshold).toBeGreaterThanOrEqual(0.7);
    expect(loose.threshold).toBeLessThan(0.8);
    expect(loose.alerts).toHaveLength(2);
  });

  it('refuses another mode of "before", and names both', async () => {
    await expect(replay(made.stats, { before: 'memory' })).rejects.toThrow(
      'the settings of yard have before "memory", expected "previous"',
    );
  });

  it('keeps alternating cameras apart', async () => {
    const both = made.stats.flatMap((frame) => [frame, { ...frame, camera: 'gate' }]);
    const results = await dryRun(both, RECORDED, UNKNOWN);
    expect(results.map(({ camera, alerts }) => [camera, alerts.length])).toEqual([
      ['yard', 2],
      ['gate', 2],
    ]);
  });

  it("judges frames by the bundle's threshold, not by the one at their time", async () => {
    const recorded = made.stats.map((frame) => ({ ...frame, threshold: 0.01 }));
    const results = await dryRun(recorded, RECORDED, { points: [], threshold: 1 });
    expect(results.map(({ alerts }) => alerts.length)).toEqual([0]);
  });

  it('is empty without frames', async () => {
    expect(await dryRun([], RECORDED, UNKNOWN)).toEqual([]);
  });
});
