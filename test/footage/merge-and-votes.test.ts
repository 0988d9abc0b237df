/** Changes that are merged, and sentences that are chosen over all frames. */
import type { Track } from '../../src/camera/changes/state.js';
import { mergeChanges } from '../../src/footage/run/merge-changes.js';
import { castVotes, type Votes, withBestSentence } from '../../src/footage/run/votes.js';
import type { FoundChange } from '../../src/schemas/change.js';
import type { Finding } from '../../src/schemas/comparison.js';
import { change, moment } from './records.js';

describe('merging', () => {
  const door = change(1, { first_seen: moment(10), last_seen: moment(14), reverted: moment(15), confidence: 0.8 });
  const again = change(2, {
    first_seen: moment(20),
    last_seen: moment(24),
    reverted: moment(25),
    caption: 'a sure one',
  });

  it('makes one change of two at one place within the window', () => {
    const [merged, ...others] = mergeChanges([again, door], 5_000);
    expect(others).toEqual([]);
    expect(merged).toMatchObject({ id: door.id, first_seen: moment(10), reverted: moment(25), caption: 'a sure one' });
  });

  it('keeps changes apart that are later, of another kind, camera or place', () => {
    expect(mergeChanges([door, again], 4_000)).toHaveLength(2);
    expect(mergeChanges([door, { ...again, kind: 'move' }], 5_000)).toHaveLength(2);
    expect(mergeChanges([door, { ...again, camera: 'gate' }], 5_000)).toHaveLength(2);
    const elsewhere = again.regions.map((region) => ({ ...region, box: { ...region.box, x: 0.1 } }));
    expect(mergeChanges([door, { ...again, regions: elsewhere }], 5_000)).toHaveLength(2);
  });
});

describe('sentences over all frames', () => {
  const box = { x: 0.4, y: 0.4, width: 0.2, height: 0.2 };
  const region = { id: 1, side: 'after' as const, box, area: 0.04, score: 0.9 };
  const track = { id: 'chg_a', stage: 'open', regions: [region] } as unknown as Track;
  const finding = (text: string, confidence: number, where = box): Finding =>
    ({
      confidence,
      regions: [{ ...region, box: where }],
      statements: [{ text, kind: 'appear', regions: [1] }],
    }) as unknown as Finding;
  const found = {
    kind: 'appear',
    caption: 'as at the confirmation',
    confidence: 0.5,
    comparisons: { first: 'c0', best: 'c0', last: 'c9' },
  } as unknown as FoundChange;

  it('takes the sentence of most weight, with the comparison of the highest confidence', () => {
    let votes: Votes = {};
    for (const [i, [text, confidence]] of (
      [
        ['a bag', 0.95],
        ['a box', 0.7],
        ['a box', 0.9],
      ] as const
    ).entries()) {
      votes = castVotes(votes, [track], finding(text, confidence), `c${i}`);
    }
    votes = castVotes(votes, [track], null, 'quiet');
    expect(withBestSentence(found, votes.chg_a)).toMatchObject({
      caption: 'a box',
      confidence: 0.9,
      comparisons: { first: 'c0', best: 'c2', last: 'c9' },
    });
  });

  it('keeps the sentence of the confirmation without a statement about the place and the kind', () => {
    const elsewhere = castVotes({}, [track], finding('a bag', 0.9, { ...box, x: 0 }), 'c1');
    expect(withBestSentence(found, elsewhere.chg_a).caption).toBe('as at the confirmation');
    const votes = castVotes({}, [track], finding('a bag', 0.9), 'c1');
    expect(withBestSentence({ ...found, kind: 'disappear' }, votes.chg_a).caption).toBe('as at the confirmation');
  });

  it('keeps the sentence of an object that was left, which states more than a vote', () => {
    const votes = castVotes({}, [track], finding('a box', 0.9), 'c1');
    const object = { value: 'object_left', since: moment(1).at ?? '', at: moment(9).at ?? '' } as const;
    const left = { ...found, object: { ...object, probability: 0.9, owner: null } };
    expect(withBestSentence(left, votes.chg_a)).toEqual(left);
  });
});
