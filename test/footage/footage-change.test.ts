import { Value } from 'typebox/value';
import { FootageChangeSchema, type Moment } from '../../src/footage/records.js';
import { footageChange } from '../../src/footage/run/footage-change.js';
import type { FoundChange } from '../../src/schemas/change.js';
import { change } from './records.js';

const found: FoundChange = {
  ...(({ id, camera, zone, kind, caption, confidence, status, severity, regions }) => ({
    id,
    camera,
    zone,
    kind,
    caption,
    confidence,
    status,
    severity,
    regions,
  }))(change(1)),
  first_seen: '1970-01-01T00:00:10.000Z',
  confirmed_at: '1970-01-01T00:00:11.000Z',
  last_seen: '1970-01-01T00:00:15.000Z',
  settled_at: null,
  reverted_at: '1970-01-01T00:00:16.000Z',
  alerted_at: null,
  suppressed_count: 0,
  comparisons: { first: 'cmp_1', best: 'cmp_2', last: 'cmp_3' },
};
const momentOf = (time: number): Moment => ({ at: null, file: 'yard.mp4', seconds: time / 1000 });
const { caption, confidence, regions } = change(1);
const shown = { caption, confidence, regions, pictures: { before: 'pictures/b.jpg', after: null } };

describe('the record of a change in a recording', () => {
  it('has a position in the recording for each of its times, and null for a time that has not come', () => {
    const record = footageChange(found, momentOf, shown);
    const at = (seconds: number) => ({ at: null, file: 'yard.mp4', seconds });
    expect(record).toMatchObject({ first_seen: at(10), confirmed: at(11), last_seen: at(15), reverted: at(16) });
    expect(record.settled).toBeNull();
    expect(record.pictures).toEqual(shown.pictures);
  });

  it('satisfies the schema, with outlines and without', () => {
    const points: [number, number][] = [
      [0, 0],
      [1, 0],
      [0, 1],
    ];
    for (const outlines of [{}, { outlines: [{ side: 'after' as const, points }] }]) {
      expect(Value.Errors(FootageChangeSchema, footageChange(found, momentOf, { ...shown, ...outlines }))).toEqual([]);
    }
  });
});
