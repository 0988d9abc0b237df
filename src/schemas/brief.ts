/** The daily brief: per camera what the confirmed changes of one day say, and when the camera showed nothing. */
import { type Static, Type } from 'typebox';
import type { Box, Side } from '../base/images.js';
import { count, dateTime, flag, literals, nullable, text } from './constructors.js';
import { CHANGE_KINDS, SEVERITIES } from './kinds.js';
import { VisitSchema } from './visit.js';

export const BriefChangeSchema = Type.Object(
  {
    id: text('Id of the change.'),
    at: dateTime('Time of the event: when the change was first seen, or when it ended.'),
    first_seen: dateTime(),
    ended_at: nullable(dateTime(), 'null: it lasted at the end of the day.'),
    url: text('The change in the API.'),
  },
  { $id: 'BriefChange' },
);

export const BriefGroupSchema = Type.Object(
  {
    caption: text('Sentence of these changes; the one that a person gave, if there is one.'),
    ended: flag('true: the end of what the caption states ("a van has appeared", and it is no longer there).'),
    zone: nullable(Type.String()),
    kind: literals(CHANGE_KINDS, 'Kind of the changes.'),
    severity: literals(SEVERITIES, 'The highest of them.'),
    count: Type.Integer({ minimum: 1 }),
    first_at: dateTime(),
    last_at: dateTime(),
    changes: Type.Array(BriefChangeSchema, { description: 'The latest ones, at most 20, in the order of their time.' }),
  },
  { $id: 'BriefGroup', description: 'Changes of one kind, zone and sentence.' },
);
export type BriefGroup = Static<typeof BriefGroupSchema>;

export const BriefListSchema = Type.Object(
  {
    count: count('Changes.'),
    groups: Type.Array(BriefGroupSchema, {
      description: 'In the order of their time; at most 50, those of the highest severity first.',
    }),
    left_out: count('Changes of further groups.'),
  },
  { $id: 'BriefList' },
);
export type BriefList = Static<typeof BriefListSchema>;

const UNSEEN_REASONS = ['gap', 'frozen', 'foreign_picture', 'tamper', 'unrecorded'] as const;
export const UnseenSchema = Type.Object(
  {
    reason: literals(UNSEEN_REASONS, {
      description:
        'gap: no frame came for longer than `gap_s`; frozen: all frames were one picture; tamper: the camera was ' +
        'blocked, defocused, darkened or turned; unrecorded: before the first frame of which gaps are recorded.',
    }),
    from: dateTime(),
    until: nullable(dateTime(), 'null: it goes on.'),
    detail: text('A sentence for people.'),
    change: nullable(Type.String(), 'Id of the change, if the reason is tamper.'),
  },
  { $id: 'Unseen' },
);
export type Unseen = Static<typeof UnseenSchema>;

export const NotSeenSchema = Type.Object(
  {
    seconds: count('Seconds of the day so far; overlapping spans count once.'),
    spans: Type.Array(UnseenSchema, { description: 'In the order of their begin; at most 100, the longest.' }),
    left_out: count('Further spans.'),
  },
  { $id: 'NotSeen' },
);
export type NotSeen = Static<typeof NotSeenSchema>;

/** Visits of one answer. */
export const MOST_BRIEF_VISITS = 50;
const perHour = (description: string) =>
  Type.Array(Type.Object({ from: dateTime('Begin of an hour of local time.'), count: Type.Integer({ minimum: 1 }) }), {
    description,
  });
const { id, caption, status, first_seen, last_seen, gone } = VisitSchema.properties;
export const BriefVisitsSchema = Type.Object(
  {
    count: count('Visits that began on the day.'),
    per_hour: perHour('Visits that began in an hour; hours without one are left out.'),
    items: Type.Array(
      Type.Object({
        id,
        caption,
        status,
        first_seen,
        last_seen,
        gone,
        url: text('The visit in the API.'),
      }),
      { description: `In the order of their begin; at most ${MOST_BRIEF_VISITS}, the latest.` },
    ),
    left_out: count('Earlier visits.'),
  },
  { $id: 'BriefVisits' },
);

/** The lists of a camera's brief, in the order in which they are shown. */
export const BRIEF_LISTS = ['came', 'left', 'moved', 'replaced', 'still_there', 'still_gone'] as const;
export type BriefListName = (typeof BRIEF_LISTS)[number];

export const CameraBriefSchema = Type.Object(
  {
    camera: text('Id of the camera.'),
    name: nullable(Type.String()),
    day: text('YYYY-MM-DD.'),
    timezone: text('The day is one of this time zone.'),
    from: dateTime('Begin of the day.'),
    until: dateTime('End of the day, exclusive. A day has 23 or 25 hours if the clock changes.'),
    over: flag('false: the day goes on.'),
    visits: BriefVisitsSchema,
    passages: perHour('Things that one or two frames show, per hour; hours without one are left out.'),
    came: BriefListSchema,
    left: BriefListSchema,
    moved: BriefListSchema,
    replaced: BriefListSchema,
    still_there: BriefListSchema,
    still_gone: BriefListSchema,
    not_seen: NotSeenSchema,
    truncated: flag('true: there were more changes than are read; counts are lower bounds.'),
  },
  {
    $id: 'CameraBrief',
    description:
      '`came`: things that appeared on the day, or are back. `left`: things that disappeared on it. `still_there`: ' +
      'things that had come, moved or replaced something by its end. `still_gone`: things that had disappeared by then.',
  },
);
export type CameraBrief = Static<typeof CameraBriefSchema>;

export const BriefSchema = Type.Object(
  {
    summary: text(
      'A paragraph: how busy the day was, its most important visits or changes, and the cameras without a picture.',
    ),
    cameras: Type.Array(CameraBriefSchema, { description: 'Ordered by id.' }),
    next_cursor: nullable(Type.String(), 'For the next cameras; null if these are the last.'),
  },
  { $id: 'Brief', description: 'One day, from confirmed changes and from records of the frames that did not come.' },
);
export type Brief = Static<typeof BriefSchema>;

/** A part of a frame that shows a visit or a change; box null: the whole frame. */
export interface BriefShown {
  readonly comparison: string;
  readonly side: Side;
  readonly box: Box | null;
}

/** A brief that is sent by mail. */
export interface BriefMail {
  /** YYYY-MM-DD of its end */
  readonly day: string;
  readonly cameras: number;
  readonly pictures: readonly { readonly shown: BriefShown; readonly text: string; readonly path: string }[];
}
