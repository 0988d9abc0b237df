/**
 * Options of recordings: which camera and time a file is of, and which frames are examined. They are members of the
 * body of POST /v1/batches, and the commands about recordings take their help, ranges and defaults from here.
 */
import { Type } from 'typebox';
import { dateTime, flag } from './constructors.js';

const MOST_SECONDS = 86_400;

/** In a description, the text after 'With mode when:' is about the search for a moment, the rest about all changes. */
export const RECORDING_OPTIONS = {
  template: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: "Camera and time from the names: 'frigate', 'dated', or a text as '{camera}/{t:%Y%m%d-%H%M%S}.jpg'.",
      examples: ['frigate'],
    }),
  ),
  time_zone: Type.Optional(
    Type.String({
      maxLength: 64,
      default: 'UTC',
      description: 'Time zone of times without one.',
      examples: ['UTC'],
    }),
  ),
  start: Type.Optional(dateTime('Capture time of the first frame; the files follow each other without a pause.')),
  image_interval_s: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: MOST_SECONDS,
      default: 1,
      description: 'With `start`: time between two pictures.',
    }),
  ),
  every: Type.Optional(
    Type.String({
      pattern: '^(auto|keyframes|all|[0-9]+([.][0-9]+)?(ms|s|m|h|d))$',
      maxLength: 20,
      default: 'auto',
      description:
        "Frames to look at: a duration as '10s', keyframes, all, or auto: key frames if at most 4 s apart, else one per " +
        'second. With mode when: a duration, the time between two frames that the search may choose; auto is 1 s.',
      examples: ['10s'],
    }),
  ),
  exact: Type.Optional(flag('With a duration: decode every frame, even if key frames are close enough.')),
  across_gaps: Type.Optional(flag('Compare frames across pauses of the recording as well.')),
  merge_window_s: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: MOST_SECONDS,
      description: 'One change instead of several that follow within this time at one place.',
    }),
  ),
  between: Type.Optional(
    Type.Array(Type.String({ maxLength: 64, examples: ['2026-06-01T12:00:00Z', '12.5s'] }), {
      minItems: 2,
      maxItems: 2,
      description:
        'With mode when: begin and end of the search, as capture times or from the beginning of the recording ' +
        "('12.5s', '01:30:00').",
    }),
  ),
  covered_s: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: MOST_SECONDS,
      default: 60,
      description: 'With mode when: longest time for which something may stand before the place, without a change.',
    }),
  ),
};
