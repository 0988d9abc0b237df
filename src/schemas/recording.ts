/** Shapes of all records about recordings: positions in them, and contours on their frames. */
import { type Static, Type } from 'typebox';
import { SIDES } from '../base/images.js';
import { dateTime, literals, nullable, text, unit } from './constructors.js';

/** A position in a recording. */
export const MomentSchema = Type.Object(
  {
    at: nullable(dateTime(), 'Capture time; null if the recording gives none.'),
    file: text('The input as it was named: a video, or the image of one frame.'),
    seconds: Type.Number({
      minimum: 0,
      description: 'Presentation time from the beginning of the file; 0 in the image of one frame.',
    }),
  },
  { $id: 'Moment' },
);
export type Moment = Static<typeof MomentSchema>;

/** [x, y] as an array of two, because OpenAPI 3.1 has no tuples as in draft 07. */
export const pointSchema = Type.Unsafe<[x: number, y: number]>(Type.Array(unit(), { minItems: 2, maxItems: 2 }));

/** Contour of a region: the line at which the change map falls below the threshold of its regions. */
export const OutlineSchema = Type.Object({
  side: literals(SIDES, 'The frame that it lies on.'),
  points: Type.Array(pointSchema, {
    minItems: 3,
    description: 'Corners [x, y] of a closed polygon, as fractions of the frame.',
  }),
});
export type Outline = Static<typeof OutlineSchema>;

/**
 * Which frames are looked at. auto: the key frames if they are at most 4 s apart, otherwise one frame per second.
 * seconds: the first frame of each interval; of key frames only if they are close enough and `exact` is not set.
 */
export type Every =
  | { readonly mode: 'auto' | 'keyframes' | 'all' }
  | { readonly mode: 'seconds'; readonly seconds: number; readonly exact: boolean };
