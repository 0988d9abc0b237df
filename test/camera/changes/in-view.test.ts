/** Sentences of changes beside the things that the visits of the camera follow. */
import { describe, expect, it } from '@jest/globals';
import { advance } from '../../../src/camera/changes/advance.js';
import { initialTrackerState, type Observation } from '../../../src/camera/changes/state.js';
import type { ChangeRegion } from '../../../src/schemas/change.js';
import { observed, RULES, regionAt, START } from './scenario.js';

const [here, elsewhere] = [regionAt(1).box, regionAt(3).box];

/** The sentence of the change that two equal frames confirm. */
function captionOf(given: Partial<Observation>): string | undefined {
  const first = advance(initialTrackerState(), observed(START, given), RULES);
  return advance(first.state, observed(START + 1000, given), RULES).changes[0]?.change.caption;
}

describe('the place of a thing is empty', () => {
  const region: ChangeRegion = regionAt(1, { side: 'before' });
  const emptied = { kind: 'disappear', caption: 'the car on the left has left', regions: [region] } as const;
  const captionWith = (box = elsewhere, from = [here]) =>
    captionOf({ ...emptied, inView: [{ box, noun: 'car', from }] });

  it('while it is in view elsewhere: it has not left', () => {
    expect(captionWith()).toBe('The car on the left is no longer there.');
  });
  it('and nothing that came from there is in view elsewhere: it has left', () => {
    for (const caption of [captionOf(emptied), captionWith(here), captionWith(elsewhere, []), captionWith(here, [])]) {
      expect(caption).toBe('The car on the left has left.');
    }
  });
});

describe('a thing without a name', () => {
  const unnamed = { caption: 'several things have changed', regions: [regionAt(1)], statements: [] };
  const captionWith = (...nouns: (string | null)[]) =>
    captionOf({ ...unnamed, inView: nouns.map((noun) => ({ box: here, noun, from: [] })) });

  it('has the name by which it was followed', () => {
    expect(captionWith('person')).toBe('A person has appeared on the left.');
    expect(captionOf({ ...unnamed, inView: [{ box: elsewhere, noun: 'person', from: [] }] })).toMatch(/^Something /);
  });
  it('has no name beside several things, or beside one that has none', () => {
    for (const nouns of [['person', 'car'], [null], []]) {
      expect(captionWith(...nouns)).toBe('Something has appeared on the left.');
    }
  });
  it('keeps the name that the comparison gave it', () => {
    const named = captionOf({ regions: [regionAt(1)], inView: [{ box: here, noun: 'person', from: [] }] });
    expect(named).toBe('A car has appeared.');
  });
});
