import { uniformNumbers } from '../../src/base/random.js';
import { findWhen, type SampledFrames, type WhenResult } from '../../src/footage/search/when.js';

/** A state of the place, or a thing before it that looks different each time. */
type View = string;
const COUNT = 3600;
const COVERED = 60;

/** @param views the view per frame. @param pause frames for which the first one behind them is found */
async function search(
  views: readonly View[],
  coveredFrames = COVERED,
  [begin, end] = [0, 0],
): Promise<WhenResult<View> & { most: number }> {
  const shown = (index: number) => (index >= begin && index < end ? end : index);
  const asked: number[] = [];
  const frames: SampledFrames<View> = {
    count: views.length,
    coveredFrames,
    moment: (index) => {
      const seconds = asked.includes(index) ? shown(index) : index;
      return { at: new Date(seconds * 1000).toISOString(), file: 'yard.mp4', seconds };
    },
    async frame(index) {
      asked.push(index);
      return views[shown(index)] ?? '';
    },
  };
  const result = await findWhen(frames, async (before, after) => before === after);
  expect(new Set(asked).size).toBe(asked.length);
  expect(result.looks).toBe(asked.length);
  return { ...result, most: 2 * Math.log2(views.length) };
}
const intervalOf = (interval: WhenResult<View>['changed']) =>
  interval && [interval.before.index, interval.after.index, interval.exact];
const made = (viewAt: (index: number) => View, count = COUNT) => Array.from({ length: count }, (_, i) => viewAt(i));

describe('the interval in which a place changed', () => {
  const next = uniformNumbers(17);
  const changes = Array.from({ length: 20 }, (_, i) =>
    i === 0 ? 1 : i === 1 ? COUNT - 1 : 1 + Math.floor(next() * (COUNT - 1)),
  );

  it.each(changes)('is found in at most 2 log2(n) looks, with a change at frame %i of 3600', async (at) => {
    const result = await search(made((i) => (i < at ? 'empty' : 'car')));
    expect(intervalOf(result.changed)).toEqual([at - 1, at, true]);
    expect(result.changedBack).toBeNull();
    expect(result.looks).toBeLessThanOrEqual(result.most);
  });

  it.each(changes)('is found with people who stand before the place, and a change at frame %i', async (at) => {
    // Each person stands there for up to 50 frames; each frame of a person looks different.
    const starts = Array.from({ length: 15 }, () => Math.floor(next() * COUNT));
    const isCovered = (i: number) => i > 0 && i < COUNT - 1 && starts.some((start) => i >= start && i < start + 50);
    const views = made((i) => (isCovered(i) ? `person ${i}` : i < at ? 'empty' : 'car'));
    const result = await search(views);
    const [before = -1, after = -1] = intervalOf(result.changed) ?? [];
    expect([views[Number(before)], views[Number(after)]]).toEqual(['empty', 'car']);
    expect(before).toBeLessThan(at);
    expect(after).toBeGreaterThanOrEqual(at);
    // A fifth of the frames are covered, in part at the change itself.
    if (result.changed?.exact === false) expect(Number(after) - Number(before)).toBeLessThan(COUNT / 10);
    expect(result.looks).toBeLessThanOrEqual(result.most);
  });

  it.each([2, 3, 4, 5, 10])('is found in a recording of %i frames', async (count) => {
    for (let at = 1; at < count; at++) {
      const result = await search(
        made((i) => (i < at ? 'empty' : 'car'), count),
        0,
      );
      expect(intervalOf(result.changed)).toEqual([at - 1, at, true]);
    }
  });

  it('is that of the first change, if the place changes again', async () => {
    const result = await search(made((i) => (i < 700 ? 'empty' : i < 2500 ? 'car' : 'two cars')));
    expect(intervalOf(result.changed)).toEqual([699, 700, true]);
  });

  it('is not that of a thing that stood before the place at the beginning', async () => {
    const result = await search(made((i) => (i < 40 ? 'person' : i < 1234 ? 'empty' : 'car')));
    expect(intervalOf(result.changed)).toEqual([1233, 1234, true]);
    expect(result.covered.map(({ seconds }) => seconds)).toContain(0);
  });

  it('is followed by the one in which the place became again as it was', async () => {
    const result = await search(made((i) => (i < 1000 || i >= 2200 ? 'empty' : 'car')));
    expect(intervalOf(result.changed)).toEqual([999, 1000, true]);
    expect(intervalOf(result.changedBack)).toEqual([2199, 2200, true]);
  });

  it('is none if nothing changed, or something only stood before the place', async () => {
    const result = await search(made(() => 'empty'));
    expect([result.changed, result.changedBack]).toEqual([null, null]);
    expect(result.looks).toBeLessThanOrEqual(result.most);
    const passed = await search(made((i) => (i > 1790 && i < 1830 ? 'person' : 'empty')));
    expect(passed.changed).toBeNull();
    expect(passed.covered.map(({ seconds }) => seconds)).toEqual([1800]);
  });

  it('is not that of a thing that stood before the place only after a pause', async () => {
    const views = made((i) => (i >= 3000 && i < 3030 ? 'person' : i < 3300 ? 'empty' : 'car'));
    const passed = await search(views.slice(0, 3300), COVERED, [1000, 3000]);
    expect([passed.changed, passed.covered.length > 0]).toEqual([null, true]);
    const begun = await search(views, COVERED, [0, 3000]);
    expect(intervalOf(begun.changed)).toEqual([3299, 3300, true]);
  });

  it('is found after a pause', async () => {
    const result = await search(
      made((i) => (i < 500 ? 'empty' : 'car')),
      COVERED,
      [500, 3000],
    );
    expect(intervalOf(result.changed)).toEqual([499, 500, true]);
  });

  it('is not exact if the place is covered at the time of the change', async () => {
    const result = await search(made((i) => (i < 1000 ? 'empty' : i < 1050 ? `person ${i}` : 'car')));
    const { before, after, exact } = result.changed ?? {};
    expect(exact).toBe(false);
    expect(before?.index).toBeLessThan(1000);
    expect(after?.index).toBeGreaterThanOrEqual(1050);
    expect(Number(after?.index) - Number(before?.index)).toBeLessThan(250);
  });

  it('needs two frames', async () => {
    await expect(search(['empty'])).rejects.toThrow('the frames are 1, expected two or more');
  });
});
