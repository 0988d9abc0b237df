/** The query of the daily brief. */
import { type Static, Type } from 'typebox';
import { DAY_PATTERN } from '../../brief/day.js';
import { CAMERA_ID_PATTERN } from '../../camera/settings/id-pattern.js';
import { literals } from '../../schemas/constructors.js';
import { labelQuery } from '../cameras/labelled.js';
import { pageQuery } from './pages.js';

const FORMATS = ['json', 'markdown', 'html'] as const;
export type BriefFormat = (typeof FORMATS)[number];

export const BriefQuery = Type.Object(
  {
    day: Type.Optional(
      Type.String({
        pattern: DAY_PATTERN,
        default: 'today',
        description: 'YYYY-MM-DD, `today` or `yesterday`, in the time zone of each camera.',
      }),
    ),
    camera: Type.Optional(
      Type.String({ pattern: CAMERA_ID_PATTERN, description: 'One camera; default: all that the key may see.' }),
    ),
    ...labelQuery,
    tz: Type.Optional(
      Type.String({
        maxLength: 64,
        description: "IANA time zone; default: that of each camera's schedule, or UTC without a schedule.",
        examples: ['Europe/Berlin'],
      }),
    ),
    format: Type.Optional(
      literals(FORMATS, { description: 'Default: by `Accept` (text/html or text/markdown), otherwise json.' }),
    ),
    ...pageQuery(CAMERA_ID_PATTERN),
  },
  { additionalProperties: false },
);
export type BriefQuery = Static<typeof BriefQuery>;
