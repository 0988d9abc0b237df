/**
 * Records of a processed recording. The loop over it writes them; every output (NDJSON, CSV, JSON, WebVTT, HTML) and
 * the dry run of rules read them. Plain JSON; `v` is the version of the format. Figures have full precision; the
 * outputs round them.
 */
import { type Static, Type } from 'typebox';
import { CameraSettingsSchema } from '../camera/settings/settings.js';
import { BoxSchema } from '../schemas/box.js';
import { CameraFrameSchema } from '../schemas/camera-frame.js';
import { FoundChangeSchema } from '../schemas/change.js';
import { FindingSchema, ModelUsedSchema } from '../schemas/comparison.js';
import { count, dateTime, flag, literals, nullable, text, unit } from '../schemas/constructors.js';
import { OBJECT_KINDS } from '../schemas/kinds.js';
import { type Moment, MomentSchema, OutlineSchema } from '../schemas/recording.js';
import { SeenThingSchema } from '../schemas/seen-thing.js';
import { VisitSchema } from '../schemas/visit.js';
import { SKIP_REASONS, type SkipReason } from './run/frame-account.js';

export type { Moment, Outline } from '../schemas/recording.js';

/** Capture time of a position, epoch ms; without one, its time from the beginning of its file. */
export const timeOf = ({ at, seconds }: Moment): number => (at === null ? seconds * 1000 : Date.parse(at));

const version = Type.Literal(1, { description: 'Version of this format.' });
const camera = text('The sequence: one camera.');

const moment = (description: string) => Type.Object(MomentSchema.properties, { description });

const { id, zone, kind, caption, confidence, severity, status, regions } = FoundChangeSchema.properties;

/** A change in a recording, as it was after the last frame. */
export const FootageChangeSchema = Type.Object(
  {
    v: version,
    id,
    camera,
    kind,
    caption,
    confidence,
    severity,
    zone,
    status,
    regions,
    object: Type.Optional(
      Type.Object(
        {
          value: literals(OBJECT_KINDS, 'object_left: the object came and stayed; object_removed: it stayed away.'),
          at: moment('The frame from which it counts.'),
          probability: unit('Probability that it is an object.'),
        },
        { description: 'Present if the change counts as an object left or removed.' },
      ),
    ),
    first_seen: moment('The first frame that showed it.'),
    confirmed: moment('The frame that confirmed it.'),
    last_seen: moment('The last frame that proves that it is still so, also after it has settled.'),
    settled: nullable(MomentSchema, 'The frame from which it counts as part of "before"; null if none.'),
    reverted: nullable(MomentSchema, 'The first frame that no longer showed it; null if all showed it.'),
    pictures: Type.Object(
      {
        before: nullable(Type.String(), 'Path relative to the folder of the outputs; null if none is kept.'),
        after: nullable(Type.String()),
      },
      {
        description:
          'The two frames of the comparison that gave `caption`, `confidence`, `regions` and `outlines`, after privacy ' +
          'masks.',
      },
    ),
    pictured: Type.Optional(moment('The second one of these frames; absent without pictures.')),
    clip: Type.Optional(text('Path of a short video of it, relative to the same folder.')),
    outlines: Type.Optional(
      Type.Array(OutlineSchema, { description: 'Contours of the regions on these pictures; without: their boxes.' }),
    ),
  },
  { $id: 'FootageChange' },
);
export type FootageChange = Static<typeof FootageChangeSchema>;

const { content, identity, there_before, end, frames, path, changes } = VisitSchema.properties;

/** A visit in a recording: its picture, box, outlines, time and file are of one frame. */
export const FootageVisitSchema = Type.Object(
  {
    v: version,
    id: VisitSchema.properties.id,
    camera,
    kind: VisitSchema.properties.kind,
    status: VisitSchema.properties.status,
    caption: VisitSchema.properties.caption,
    content,
    identity,
    first_seen: moment('The first frame that shows it.'),
    there_before,
    last_seen: moment('The last frame that shows it.'),
    gone: nullable(
      Type.Object({
        after: moment('The last frame that shows it.'),
        before: moment('The first frame that does not.'),
      }),
      'The interval in which it went; null: it is still there, or no frame shows its absence.',
    ),
    end,
    frames,
    path,
    shown: nullable(
      Type.Object({
        picture: text('Path relative to the folder of the outputs, after privacy masks.'),
        at: moment('The frame of this picture.'),
        box: BoxSchema,
        outlines: Type.Optional(
          Type.Array(OutlineSchema, { description: 'Contours within the box; without: the box.' }),
        ),
      }),
      'The frame that shows it best; null: it is not kept.',
    ),
    changes,
  },
  { $id: 'FootageVisit' },
);
export type FootageVisit = Static<typeof FootageVisitSchema>;

/** The fields of a change that its sighting gives. */
export type ShownSighting = Pick<
  FootageChange,
  'caption' | 'confidence' | 'regions' | 'pictures' | 'outlines' | 'pictured'
>;

/**
 * One sampled frame with its evidence. The finding is the one before zones and areas were applied, so that other
 * settings can be applied without decoding the recording again.
 */
export const FrameStatsSchema = Type.Object(
  {
    v: version,
    camera,
    number: count("The camera's count of frames when this one came (`frames` of its state); ids derive from it."),
    ...MomentSchema.properties,
    time: Type.Integer({
      description: 'Time in the order of the camera, ms; the capture time (epoch) if it is known.',
    }),
    examined: flag('false: a quiet frame, which was not compared.'),
    score: nullable(
      Type.Number(),
      'Difference from the last examined frame by the rule of quiet frames, which holds up to 1; null: not compared.',
    ),
    before: Type.Optional(CameraFrameSchema.properties.before),
    reset: Type.Optional(
      literals(['before', 'after', 'both'], {
        description:
          'The baseline was replaced, so that open changes settled: before this frame was compared (the first frame, ' +
          'a gap), after it (the frame became the background of its light), or both. Absent: it was not.',
      }),
    ),
    gap: Type.Optional(
      Type.Boolean({
        description: 'Whether the recording paused before this frame. Absent: it did not.',
      }),
    ),
    finding: nullable(
      Type.Pick(FindingSchema, [
        'verdict',
        'kind',
        'nuisance',
        'caption',
        'caption_score',
        'confidence',
        'regions',
        'statements',
        'facts',
      ]),
      'Unfiltered; null if the frame was not examined, or had nothing to be compared with.',
    ),
    seen: Type.Optional(Type.Array(SeenThingSchema, { description: 'The things of its regions.' })),
    threshold: nullable(
      unit(),
      'Confidence from which the verdict is a change: below it a finding has no regions. null: that of the bundle.',
    ),
  },
  { $id: 'FrameStats' },
);
export type FrameStats = Static<typeof FrameStatsSchema>;

/** Time without frames. No frame after it is compared with one before it, unless that was asked for. */
const FootageGapSchema = Type.Object(
  {
    v: version,
    camera,
    from: moment('The last frame before it.'),
    to: moment('The first frame after it.'),
    seconds: nullable(Type.Number(), 'Its length; null if the capture times are unknown.'),
  },
  { $id: 'FootageGap' },
);
export type FootageGap = Static<typeof FootageGapSchema>;

/** A file, a frame or a line of a manifest that could not be used. The others are processed. */
const FootageFailureSchema = Type.Object(
  {
    v: version,
    camera: nullable(Type.String(), 'null if it is unknown.'),
    file: text('The input as it was named.'),
    seconds: nullable(Type.Number(), 'Presentation time of the frame; null if the whole file failed.'),
    code: text('Code of src/base/errors.ts.'),
    reason: text('A sentence: the value that came and the value that was expected.'),
  },
  { $id: 'FootageFailure' },
);
export type FootageFailure = Static<typeof FootageFailureSchema>;

type Skips = Record<SkipReason, Type.TInteger>;
/** The whole run. It has no time of the processing itself, so that equal inputs give equal bytes. */
export const FootageSummarySchema = Type.Object(
  {
    v: version,
    scenedelta: text('Version of the program.'),
    complete: flag('false: the run was ended before the last frame.'),
    model: nullable(Type.Pick(ModelUsedSchema, ['name', 'version', 'sha256']), 'null if no frame was compared.'),
    warnings: Type.Optional(Type.Array(Type.String(), { description: 'Doubts about the times of the files.' })),
    cameras: Type.Array(
      Type.Object({
        camera,
        timezone: Type.Optional(text('IANA time zone in which the report shows its times; default: UTC.')),
        settings: Type.Omit(CameraSettingsSchema, ['snapshot'], {
          description: 'That were applied; `alerts.callback_url` is null, because a recording sends no alerts.',
        }),
        files: Type.Array(
          Type.Object({
            file: Type.String(),
            at: nullable(dateTime(), 'Capture time of its beginning.'),
            duration: nullable(Type.Number(), 'Seconds; null for the image of one frame.'),
          }),
          { description: 'In the order of time, the failed ones excluded.' },
        ),
        frames: count('Sampled frames.'),
        examined: count('Frames that were compared.'),
        changes: count('Changes found.'),
        gaps: count('Gaps between frames.'),
        failures: count('Failures of files and frames.'),
        account: Type.Object(
          {
            in: count('Frames that the decoder handed over, and pictures.'),
            skipped: Type.Partial(
              Type.Object(Object.fromEntries(SKIP_REASONS.map((reason) => [reason, count('Frames.')])) as Skips),
            ),
          },
          { description: '`in` is `frames` and all of `skipped`.' },
        ),
      }),
    ),
  },
  { $id: 'FootageSummary' },
);
export type FootageSummary = Static<typeof FootageSummarySchema>;
