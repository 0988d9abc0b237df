/**
 * The comparison resource: the schema of the API's answers, of webhooks and of the JSON of the command line. A stored
 * comparison also has the evidence of its finding.
 */
import { type Static, Type } from 'typebox';
import { BoxSchema } from './box.js';
import { CameraFrameSchema } from './camera-frame.js';
import { CheckSchema } from './check.js';
import { dateTime, literals, nullable, text, unit } from './constructors.js';
import { KINDS, OBJECT_KINDS, SEVERITIES, SIDES_OF_KIND, type StatementKind, VERDICTS } from './kinds.js';
import { LensCoverSchema, LostSchema, TamperSchema } from './loss.js';
import { ProblemSchema } from './problem.js';
import { ContentSchema, StatementSchema } from './statement.js';
import { ViewpointSchema } from './viewpoint.js';

export type { Viewpoint } from './viewpoint.js';

const STATUSES = ['queued', 'running', 'finished', 'failed', 'cancelled'] as const;
export const RegionSchema = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: 'Counts from 1, the strongest region first.' }),
    side: literals(['before', 'after'], 'The frame in which the changed thing is seen.'),
    box: BoxSchema,
    area: unit('Share of the frame that the region covers (its cells, not its box).'),
    score: unit('Mean of the change map inside the region.'),
    scene: Type.Optional(
      unit('Probability that it lies in the scene, and not on the lens or close to it; absent: not separated.'),
    ),
    zone: Type.Optional(Type.String()),
  },
  { $id: 'Region' },
);

const STATEMENT_KINDS = Object.keys(SIDES_OF_KIND) as StatementKind[];
const LocatedStatementSchema = Type.Object(
  {
    text: text('A clause about the thing in these regions alone.'),
    kind: literals(STATEMENT_KINDS, 'Kind of the change that the text states.'),
    content: Type.Optional(StatementSchema),
    regions: Type.Array(Type.Integer({ minimum: 1 }), {
      minItems: 1,
      description: 'Ids of the regions that show the thing, on the sides that the kind needs.',
    }),
    score: unit("Geometric mean of the words' probabilities."),
  },
  { $id: 'Statement' },
);
export type LocatedStatement = Static<typeof LocatedStatementSchema>;

/** As in the model (naming.ts). */
const CLASSES = ['person', 'vehicle', 'animal', 'object'] as const;

const probability = unit('Calibrated probability that it is true.');
const LikelySchema = Type.Object({ value: Type.String(), probability });
const FactSchema = Type.Object(
  {
    kind: Type.Object({ value: literals(STATEMENT_KINDS, 'The kind of change of the thing.'), probability }),
    noun: LikelySchema,
    nouns: Type.Optional(
      Type.Array(LikelySchema, { description: 'The nouns of at least 0.05 by the picture and the words, sorted.' }),
    ),
    class: Type.Optional(
      nullable(
        Type.Object({ value: literals(CLASSES, 'The widest true noun.'), probability }),
        'The most probable of person, vehicle, animal and object; null: the model has no such nouns.',
      ),
    ),
    object: Type.Optional(
      nullable(
        Type.Object({
          value: literals(OBJECT_KINDS, 'object_left: an object appeared; object_removed: it disappeared.'),
          probability: unit('Probability of the kind times that of the class.'),
          owner: nullable(
            Type.Object({ region: Type.Integer({ minimum: 1, description: 'Id of a region.' }), box: BoxSchema }),
            'The place of a person of either frame who is at most three lengths of the object away; null: none.',
          ),
        }),
        'Present for an object (a bag, a box; no person, vehicle or animal) that appeared or disappeared. Two frames ' +
          'do not show whether it stays; the change of a camera does.',
      ),
    ),
    colour: nullable(LikelySchema, 'null: no colour is probable enough.'),
    colours: Type.Optional(Type.Array(LikelySchema, { description: 'The colours of at least 0.05, sorted.' })),
    count: Type.Object({
      value: Type.Integer({
        minimum: 1,
        maximum: 4,
        description: 'Number of things at this location; 4: four or more.',
      }),
      probability,
    }),
    place: nullable(LikelySchema, 'The last place of the thing; null: a move, or no place is probable enough.'),
    way: nullable(LikelySchema, 'The way that a thing went that moved; null: no move, or no way is probable enough.'),
    regions: Type.Array(Type.Integer({ minimum: 1 }), { description: 'Ids of the regions that show the thing.' }),
  },
  { $id: 'Fact' },
);
export type Fact = Static<typeof FactSchema>;

export const WordSchema = Type.Object(
  { text: Type.String(), score: unit('Probability that the model gave this word.') },
  { $id: 'Word' },
);

export const ModelUsedSchema = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    sha256: text("Hash over the bundle's files, as its manifest states them."),
    provider: text("Device that ran it: 'cpu' or 'cuda:N'."),
  },
  { $id: 'ModelUsed' },
);

export const TimingsSchema = Type.Object(
  {
    queue: Type.Number(),
    fetch: Type.Number(),
    decode: Type.Number(),
    quiet: Type.Optional(
      Type.Number({ description: "Comparison of a camera's frame with the last examined one, at reduced size." }),
    ),
    register: Type.Number({
      description: 'Registration, evidence and, if it was done, alignment; runs in parallel to `encode`.',
    }),
    encode: Type.Number(),
    caption: Type.Number(),
    heatmap: Type.Number(),
    total: Type.Number({ description: 'From acceptance to the saved result.' }),
  },
  { $id: 'TimingsMs', description: 'Wall-clock milliseconds per stage.' },
);

export const NuisanceSchema = Type.Object(
  { name: Type.String(), score: unit('Probability that the nuisance is present.') },
  { $id: 'Nuisance' },
);

/** The part of a finding that answers show. */
const AnsweredSchema = Type.Object({
  verdict: literals(VERDICTS, 'none | nuisance | change | tamper'),
  kind: literals(KINDS, 'Kind of the change.'),
  nuisance: Type.Array(NuisanceSchema, { description: 'Causes that altered pixels without changing the scene.' }),
  tamper: Type.Optional(
    Type.Array(TamperSchema, {
      description: 'Present if the verdict is tamper: the kinds of tampering, the most probable first.',
    }),
  ),
  caption: text('Sentence that describes the change.'),
  caption_score: unit(
    "Geometric mean of the words' probabilities; 1 if the sentence is not the model's, as of a frame that was compared " +
      'with nothing.',
  ),
  words: Type.Array(WordSchema),
  content: Type.Optional(ContentSchema),
  confidence: unit(
    'Calibrated probability that the scene changed; if the verdict is tamper, that the camera was tampered with. 0 if ' +
      'the frames are identical, or if there was nothing to compare the frame with: no change was seen.',
  ),
  severity: literals(SEVERITIES, 'Importance of the change.'),
  regions: Type.Array(RegionSchema),
  notes: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Parts of the pair that could not be examined, with the consequence for the answer.',
    }),
  ),
  check: Type.Optional(CheckSchema),
  lost: Type.Optional(LostSchema),
  lens: Type.Optional(LensCoverSchema),
  model: nullable(
    ModelUsedSchema,
    'null if no model ran, because the frames are identical, there was nothing to compare the frame with, or the ' +
      'camera was tampered with. With `nothing_new_since`, the model of the comparison that it names.',
  ),
  viewpoint: Type.Optional(ViewpointSchema),
});

/** The output of the pipeline for one pair; the rest of a comparison is bookkeeping. */
export const FindingSchema = Type.Object(
  {
    ...AnsweredSchema.properties,
    /** of a camera: a statement about each changed location by itself, at most six; changes are made of them */
    statements: Type.Optional(Type.Array(LocatedStatementSchema)),
    /** if the model names things: each thing of a changed location with its probabilities, the strongest first */
    facts: Type.Optional(Type.Array(FactSchema)),
    /** what lies on the lens, and what it covers: the scene behind these boxes is not seen */
    on_lens: Type.Optional(Type.Array(BoxSchema)),
    /** of a camera: what differs and does not count by its zones and areas */
    uncounted: Type.Optional(Type.Array(BoxSchema)),
  },
  { $id: 'Finding' },
);
export type Finding = Static<typeof FindingSchema>;
/** The evidence of a finding by location. Its result is `content`, the only part of it that answers have. */
export type Evidence = Pick<Finding, 'statements' | 'facts' | 'on_lens' | 'uncounted'>;

const LinkSchema = Type.Object({ url: Type.String() });

export const ComparisonSchema = Type.Object(
  {
    id: Type.String({ pattern: '^cmp_[0-9a-z]{26}$' }),
    camera: nullable(Type.String()),
    status: literals(STATUSES, 'queued | running | finished | failed | cancelled'),
    created_at: dateTime(),
    finished_at: nullable(dateTime()),
    ...Type.Partial(AnsweredSchema).properties,
    camera_frame: Type.Optional(CameraFrameSchema),
    heatmaps: Type.Optional(Type.Object({ before: LinkSchema, after: LinkSchema })),
    frames: Type.Optional(
      Type.Object(
        { before: Type.Optional(LinkSchema), after: LinkSchema },
        { description: '`before` is absent if a camera had no frame to compare with.' },
      ),
    ),
    timings_ms: Type.Optional(TimingsSchema),
    error: Type.Optional(ProblemSchema),
    metadata: Type.Optional(Type.Unknown({ description: "The caller's metadata, echoed." })),
  },
  { $id: 'Comparison' },
);
export type Comparison = Static<typeof ComparisonSchema>;
/** A comparison as it is stored: dry runs, questions and evidence packages read more than answers show. */
export type ComparisonRecord = Comparison & Evidence;
export type Region = Static<typeof RegionSchema>;
export type TimingsMs = Static<typeof TimingsSchema>;
export type ModelUsed = Static<typeof ModelUsedSchema>;
