/** Visits of a recording: their records, the changes that are places of them, and the outputs. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { openVisits } from '../../src/camera/visits/visit.js';
import { passagesPerHour, visitsOfChanges } from '../../src/footage/outputs/grouping.js';
import { reportData } from '../../src/footage/outputs/report-data.js';
import { captionsVtt } from '../../src/footage/outputs/vtt.js';
import type { ComparedFrames } from '../../src/footage/run/checkpoint.js';
import { footageVisit } from '../../src/footage/run/footage-visit.js';
import { arbitraryFrames, foldAll, frame, START, walk } from '../camera/visits/made-frames.js';
import { change, moment, recording, visit } from './records.js';

const at = (x: number, side: 'before' | 'after' = 'after') => [
  { side, box: { x, y: 0.35, width: 0.08, height: 0.3 }, area: 0.02, score: 0.9, zone: null },
];

describe('the record of a visit', () => {
  it('has the picture, box, outlines, time and file of one frame', () => {
    const momentOf = (time: number) => moment((time - START) / 1000);
    fc.assert(
      fc.property(arbitraryFrames, (frames) => {
        const { state, events } = foldAll(frames);
        for (const made of [...events.map((event) => event.visit), ...openVisits(state, 'yard')]) {
          const best = frames.find(({ comparison }) => comparison === made.best.comparison);
          const ref = (sha256: string) => ({ from: 'stored' as const, sha256, bytes: 1, contentType: 'image/jpeg' });
          const { x, y } = made.best.box;
          const kept: ComparedFrames = {
            before: ref('before'),
            after: ref('after'),
            outlines: (['before', 'after'] as const).map((side) => ({ side, points: [[x, y] as [number, number]] })),
            moment: momentOf(best?.at ?? 0),
          };
          const { record, frame: pictured } = footageVisit(made, momentOf, kept, null, 'UTC');
          const time = made.best.side === 'after' ? best?.at : best?.before?.at;
          expect(pictured?.sha256).toBe(made.best.side);
          expect(record.shown?.at).toEqual(momentOf(time ?? Number.NaN));
          expect(record.shown?.box).toEqual(made.best.box);
          expect(record.shown?.outlines?.every(({ side }) => side === made.best.side)).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });
  it('has no picture if its frame is not kept', () => {
    const { events } = foldAll([...walk(1, 6, 0), frame(1000, [])]);
    const [made] = events.map((event) => event.visit);
    expect(made && footageVisit(made, () => moment(0), undefined, null, 'UTC')).toMatchObject({
      record: { shown: null },
      frame: null,
    });
  });
});

describe('a change is a place of a visit', () => {
  const visits = [visit(1)];
  it.each([
    [
      'that a frame shows at the same time at the same place',
      change(1, { regions: at(0.4), first_seen: moment(14), last_seen: moment(15) }),
      true,
    ],
    [
      'of which "before" shows where the visit was',
      change(1, { regions: at(0.1, 'before'), first_seen: moment(18), last_seen: moment(19) }),
      true,
    ],
    ['not at another time', change(1, { regions: at(0.4), first_seen: moment(60), last_seen: moment(61) }), false],
    [
      'not at a place to which it comes later',
      change(1, { regions: at(0.9), first_seen: moment(11), last_seen: moment(12) }),
      false,
    ],
    [
      'not of another camera',
      change(1, { camera: 'gate', regions: at(0.4), first_seen: moment(14), last_seen: moment(15) }),
      false,
    ],
    [
      'not if it is an object that was left',
      change(1, {
        ...{ regions: at(0.4), first_seen: moment(14), last_seen: moment(15) },
        object: { value: 'object_left', at: moment(70), probability: 0.9 },
      }),
      false,
    ],
  ])('%s', (_name, made, isPlace) => {
    expect(visitsOfChanges([made], visits).has(made.id)).toBe(isPlace);
  });
});

it('passages are counted per camera and hour of its local time', () => {
  const passage = (seconds: number, camera = 'yard') =>
    visit(1, { kind: 'passage', first_seen: moment(seconds), camera });
  const all = [passage(10), passage(20), passage(3700), passage(10, 'gate'), visit(2)];
  expect(passagesPerHour(all, (camera) => (camera === 'gate' ? 'Asia/Kolkata' : 'UTC'))).toEqual([
    { camera: 'yard', hour: '2026-06-01T12:00:00Z', passages: 2 },
    { camera: 'yard', hour: '2026-06-01T13:00:00Z', passages: 1 },
    { camera: 'gate', hour: '2026-06-01T17:00:00+05:30', passages: 1 },
  ]);
});

it('captions of a video are its visits, and the changes that are no places of one', () => {
  const place = change(1, { regions: at(0.4), first_seen: moment(14), last_seen: moment(15), caption: 'a place' });
  const other = change(5, { caption: 'a white car has appeared' });
  const text = [...captionsVtt('yard/12.mp4', [place, other], [visit(1), visit(2, { kind: 'passage' })])].join('');
  expect(text).toContain('00:00:10.000 --> 00:00:19.000\na person in red came in from the left and left to the right');
  expect(text).toContain('a white car has appeared');
  expect(text).not.toContain('a place');
  expect(text.match(/-->/g)).toHaveLength(2);
});

it('the report shows a visit by the box and the way of its frame, and marks its places', () => {
  const place = change(1, { regions: at(0.4), first_seen: moment(14), last_seen: moment(15) });
  const numberOf = (path: string | null) => (path === 'pictures/1.jpg' ? 7 : null);
  const data = reportData(recording([place, change(5)], [visit(1)]), { numberOf, highlights: [], crops: new Map() });
  expect(data.visits).toHaveLength(1);
  const way = expect.stringMatching(/^M0.05 0.7L/);
  const picture = { name: 'shown at its best frame', picture: 7, outline: 'M0.4 0.3h0.1v0.4h-0.1Z', way };
  expect(data.visits[0]?.pictures).toEqual([picture]);
  expect(data.changes.map(({ isPlace }) => isPlace)).toEqual([true, false]);
});
