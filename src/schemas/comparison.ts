/**
 * The comparison resource: the API's answer, the stored result, the webhook's payload and the command line's JSON are all
 * this one schema. Types come from it; nothing repeats it.
 */
import { type Static, Type } from 'typebox';
import { dateTime, literals, nullable, unit } from './constructors.js';

export const VERDICTS = ['none', 'nuisance', 'change', 'tamper'] as const;
export const STATUSES = ['queued', 'running', 'finished', 'failed', 'cancelled'] as const;
export const KINDS = ['none', 'appear', 'disappear', 'move', 'replace', 'multi'] as const;
export const SEVERITIES = ['info', 'low', 'medium', 'high'] as const;

export const BoxSchema = Type.Object(
  {
    x: unit('left edge'),
    y: unit('top edge'),
    width: unit('width'),
    height: unit('height'),
  },
  { $id: 'Box', description: 'Fractions of the frame, origin top left.' },
);

export const RegionSchema = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: 'Counts from 1, the strongest region first.' }),
    side: literals(['before', 'after'], 'The frame in which the changed thing is seen.'),
    box: BoxSchema,
    area: unit('Share of the frame that the region covers (its cells, not its box).'),
    score: unit('Mean of the change map inside the region.'),
    zone: Type.Optional(Type.String()),
  },
  { $id: 'Region' },
);

export const WordSchema = Type.Object(
  {
    text: Type.String(),
    score: unit('Probability that the model gave this word.'),
  },
  { $id: 'Word' },
);

export const ModelUsedSchema = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    sha256: Type.String({ description: "Hash over the bundle's files, as its manifest states them." }),
    provider: Type.String({ description: "Where it ran: 'cpu' or 'cuda:N'." }),
  },
  { $id: 'ModelUsed' },
);

export const TimingsSchema = Type.Object(
  {
    queue: Type.Number(),
    fetch: Type.Number(),
    decode: Type.Number(),
    register: Type.Number({
      description: 'Registration and evidence, and aligning where that was done; runs beside `encode`.',
    }),
    encode: Type.Number(),
    caption: Type.Number(),
    heatmap: Type.Number(),
    total: Type.Number({ description: 'From acceptance to the saved result.' }),
  },
  { $id: 'TimingsMs', description: 'Wall milliseconds a stage.' },
);

export const NuisanceSchema = Type.Object(
  { name: Type.String(), score: unit('Probability that the nuisance is present.') },
  { $id: 'Nuisance' },
);

export const TAMPERS = ['blocked', 'defocused', 'darkened', 'turned'] as const;
export const TamperSchema = Type.Object(
  {
    name: literals(TAMPERS, 'What was done to the camera.'),
    score: unit('Probability that it was.'),
  },
  { $id: 'Tamper' },
);

export const ViewpointSchema = Type.Union(
  [
    Type.Object({
      moved: Type.Boolean({ description: 'The camera looks another way than it did.' }),
      shift_px: Type.Number({
        minimum: 0,
        description: 'How far the middle of the frame went, in pixels of `after`.',
      }),
      rotation_deg: Type.Number({ description: 'Clockwise.' }),
      scale: Type.Number({ exclusiveMinimum: 0, description: 'Above 1: things are larger in `after`.' }),
      overlap: unit("Share of `before`'s view that `after` still shows."),
      inliers: Type.Integer({ minimum: 0, description: 'Corners that went with this motion.' }),
      residual_px: Type.Number({
        minimum: 0,
        description: 'Root mean square of their distances from it, in pixels of `after`.',
      }),
    }),
    Type.Object({
      refused: literals(
        ['too_small', 'shape', 'before_featureless', 'after_featureless', 'no_common_view'],
        'Why no motion of the camera can be told.',
      ),
      detail: Type.String({ description: 'What came and what was expected.' }),
    }),
  ],
  { $id: 'Viewpoint', description: 'How the camera moved between the frames, or why that cannot be said.' },
);
export type Viewpoint = Static<typeof ViewpointSchema>;

export const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    field: Type.Optional(Type.String()),
  },
  { $id: 'Problem', description: 'RFC 9457 problem details.' },
);

/** What the pipeline finds in a pair; the rest of a comparison is book-keeping. */
export const FindingSchema = Type.Object(
  {
    verdict: literals(VERDICTS, 'none | nuisance | change | tamper'),
    kind: literals(KINDS, 'What sort of change.'),
    nuisance: Type.Array(NuisanceSchema, { description: 'What altered pixels without changing the scene.' }),
    tamper: Type.Optional(
      Type.Array(TamperSchema, {
        description: 'Where the verdict is tamper: what was done to the camera, the surest first.',
      }),
    ),
    caption: Type.String({ description: 'The sentence.' }),
    caption_score: unit("Geometric mean of the words' probabilities."),
    words: Type.Array(WordSchema),
    confidence: unit(
      'Calibrated probability that the scene changed; where the verdict is tamper, that the camera was tampered with.',
    ),
    severity: literals(SEVERITIES, 'How much it matters.'),
    regions: Type.Array(RegionSchema),
    model: nullable(
      ModelUsedSchema,
      'null where no model was asked: the frames are identical, or the camera was tampered with.',
    ),
    viewpoint: Type.Optional(ViewpointSchema),
  },
  { $id: 'Finding' },
);
export type Finding = Static<typeof FindingSchema>;

export const CAMERA_NOTES = [
  'first_frame',
  'before_lost',
  'mask_changed',
  'size_changed',
  'gap',
  'duplicate',
  'out_of_order',
  'other_light',
  'regions_left_out',
] as const;

export const CameraFrameSchema = Type.Object(
  {
    captured_at: dateTime(),
    before: Type.Union(
      [
        Type.Object({
          mode: literals(['previous', 'reference', 'memory'], "The camera's setting."),
          captured_at: nullable(dateTime('Of the memory: when it last learned.')),
        }),
        Type.Null(),
      ],
      { description: 'What the frame was compared with; null where there was nothing.' },
    ),
    notes: Type.Array(
      Type.Object({
        code: literals(CAMERA_NOTES, 'Stable name.'),
        detail: Type.String({ description: 'A sentence for people.' }),
      }),
      { description: 'What was out of the ordinary about this frame.' },
    ),
  },
  { $id: 'CameraFrame', description: "How a camera's frame was worked on." },
);
export type CameraFrame = Static<typeof CameraFrameSchema>;
export type CameraNote = CameraFrame['notes'][number];

const LinkSchema = Type.Object({ url: Type.String() });

export const ComparisonSchema = Type.Object(
  {
    id: Type.String({ pattern: '^cmp_[0-9a-z]{26}$' }),
    camera: nullable(Type.String()),
    status: literals(STATUSES, 'queued | running | finished | failed | cancelled'),
    created_at: dateTime(),
    finished_at: nullable(dateTime()),
    ...FindingOptional(),
    camera_frame: Type.Optional(CameraFrameSchema),
    heatmaps: Type.Optional(Type.Object({ before: LinkSchema, after: LinkSchema })),
    frames: Type.Optional(Type.Object({ before: LinkSchema, after: LinkSchema })),
    timings_ms: Type.Optional(TimingsSchema),
    error: Type.Optional(ProblemSchema),
    metadata: Type.Optional(Type.Unknown({ description: "The caller's own, echoed." })),
  },
  { $id: 'Comparison' },
);

function FindingOptional() {
  return Type.Partial(FindingSchema).properties;
}
export type Comparison = Static<typeof ComparisonSchema>;
/** Whether a comparison of this status can no longer change. */
export const isFinal = (status: Comparison['status']): boolean => status !== 'queued' && status !== 'running';
export type Region = Static<typeof RegionSchema>;
export type Word = Static<typeof WordSchema>;
export type TimingsMs = Static<typeof TimingsSchema>;
export type ModelUsed = Static<typeof ModelUsedSchema>;
