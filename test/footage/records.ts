/** Records of a synthetic recording, for the tests of outputs. */
import { checkSettings } from '../../src/camera/settings/settings.js';
import type { Recording } from '../../src/footage/outputs/recording.js';
import type { FootageChange, FootageVisit, Moment } from '../../src/footage/records.js';

const EPOCH = Date.UTC(2026, 5, 1, 12);

/** @param seconds after noon of 2026-06-01 in UTC, which is the beginning of the file */
export const moment = (seconds: number, file = 'yard/12.mp4'): Moment => ({
  at: new Date(EPOCH + seconds * 1000).toISOString(),
  file,
  seconds,
});

export function change(number: number, changed: Partial<FootageChange> = {}): FootageChange {
  return {
    v: 1,
    id: `chg_${String(number).padStart(26, '0')}`,
    camera: 'yard',
    kind: 'appear',
    caption: 'a person in red has appeared on the right',
    confidence: 0.97,
    severity: 'medium',
    zone: null,
    status: 'persisting',
    regions: [{ side: 'after', box: { x: 0.6, y: 0.3, width: 0.1, height: 0.4 }, area: 0.03, score: 0.9, zone: null }],
    first_seen: moment(10 * number),
    confirmed: moment(10 * number + 1),
    last_seen: moment(10 * number + 5),
    settled: null,
    reverted: null,
    pictures: { before: null, after: null },
    ...changed,
  };
}

/** A visit that goes from the left to the right in ten seconds. */
export function visit(number: number, changed: Partial<FootageVisit> = {}): FootageVisit {
  const first = 10 * number;
  const thing = { noun: 'person', colour: 'red', count: 1, definite: false };
  const box = (x: number) => ({ x, y: 0.3, width: 0.1, height: 0.4 });
  return {
    ...{ v: 1, id: `vis_${String(number).padStart(26, '0')}`, camera: 'yard', kind: 'visit', status: 'ended' },
    caption: 'a person in red came in from the left and left to the right',
    content: {
      ...{ thing, stayed: null, objects: [], seconds: 9 },
      came: { how: 'edge', edge: 'left', place: 'on the left' },
      went: { how: 'edge', edge: 'right', place: 'on the right' },
    },
    identity: 'certain',
    first_seen: moment(first),
    there_before: false,
    last_seen: moment(first + 9),
    gone: { after: moment(first + 9), before: moment(first + 10) },
    end: 'gone',
    frames: 10,
    path: Array.from({ length: 10 }, (_, i) => ({ at: moment(first + i).at ?? '', box: box(i / 10) })),
    shown: { picture: `pictures/${number}.jpg`, at: moment(first + 4), box: box(0.4) },
    changes: [],
    ...changed,
  };
}

/** One camera with two videos of an hour each. */
export const recording = (changes: readonly FootageChange[], visits: readonly FootageVisit[] = []): Recording => ({
  summary: {
    v: 1,
    scenedelta: '0.0.0',
    complete: true,
    model: { name: 'made', version: '1', sha256: 'ab' },
    cameras: [
      {
        camera: 'yard',
        settings: checkSettings({}),
        files: ['yard/12.mp4', 'yard/13.mp4'].map((file, i) => ({ file, at: moment(3600 * i).at, duration: 3600 })),
        frames: 7200,
        examined: 100,
        account: { in: 7200, skipped: {} },
        changes: changes.length,
        gaps: 1,
        failures: 1,
      },
    ],
  },
  changes,
  visits,
  gaps: [{ v: 1, camera: 'yard', from: moment(3600), to: moment(7200, 'yard/14.mp4'), seconds: 3600 }],
  failures: [
    { v: 1, camera: 'yard', file: 'yard/15.mp4', seconds: null, code: 'video-unreadable', reason: 'no video stream' },
  ],
});
