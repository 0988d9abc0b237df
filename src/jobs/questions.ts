/**
 * Questions: short requests that a worker answers. The API asks, because it has no model, and the worker that folds a
 * camera of a batch. The asking process adds a job and waits; the worker publishes its reply on the channel which the
 * job names. `questioner.ts` is the asking side, `workers/question-job.ts` the other.
 */
import { type Static, Type } from 'typebox';
import type { ErrorCode } from '../base/errors.js';
import type { CheckAnswer } from '../schemas/ask.js';
import type { Finding } from '../schemas/comparison.js';
import type { CameraAddresses, FoundCameras } from '../schemas/discovery.js';
import type { SeenThing } from '../schemas/seen-thing.js';
import type { SnapshotTest } from '../schemas/snapshot-test.js';
import { version } from './payloads.js';

/** The search vector of a text. */
const EmbedQuestionSchema = Type.Object({ kind: Type.Literal('embed'), text: Type.String() });

/** The probability that a sentence is true of a finished comparison, whose frames are kept. */
const AskQuestionSchema = Type.Object({
  kind: Type.Literal('ask'),
  comparison: Type.String(),
  sentence: Type.String(),
});

/** The picture that an address of a camera delivers. */
const SnapshotQuestionSchema = Type.Object({
  kind: Type.Literal('snapshot'),
  camera: Type.String(),
  url: Type.String(),
  /** encrypted (login.ts) */
  login: Type.Optional(Type.String()),
});

/** The cameras of the worker's networks. */
const DiscoverQuestionSchema = Type.Object({ kind: Type.Literal('discover') });

/** The addresses of the pictures of the camera whose ONVIF service is at `url`. */
const AddressesQuestionSchema = Type.Object({
  kind: Type.Literal('addresses'),
  url: Type.String(),
  /** encrypted (login.ts) */
  login: Type.Optional(Type.String()),
});

/** The comparison of two frames of a batch, whose blobs are FOLDER/SHA256. The options are those of PairInput. */
const CompareQuestionSchema = Type.Object({
  kind: Type.Literal('compare'),
  folder: Type.String(),
  before: Type.String(),
  after: Type.String(),
  model: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  camera: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  threshold: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  truth: Type.Optional(Type.Union([Type.Number(), Type.Null()])),
  statements: Type.Optional(Type.Boolean()),
});

/** `replyTo`: the channel of Redis that the asking process listens on. */
export const QuestionJobSchema = Type.Object({
  v: version,
  replyTo: Type.String(),
  question: Type.Union([
    EmbedQuestionSchema,
    AskQuestionSchema,
    SnapshotQuestionSchema,
    DiscoverQuestionSchema,
    AddressesQuestionSchema,
    CompareQuestionSchema,
  ]),
});
export type Question = Static<typeof QuestionJobSchema>['question'];
export type QuestionOf<K extends Question['kind']> = Extract<Question, { kind: K }>;

interface EmbedAnswer {
  /** sha256 of the bundle, because vectors of two bundles are not comparable */
  readonly bundle: string;
  /** of length 1 */
  readonly values: readonly number[];
  /** cosine below which a change is no answer */
  readonly least: number;
}
/** The part of PairOutput that a recording uses. */
interface ComparedPair {
  readonly finding: Finding;
  readonly seen?: readonly SeenThing[];
  /** encodeHeatmapData, base64 */
  readonly heatmaps: string | null;
}
/** Answer per kind of question, as plain JSON. */
export interface Answers {
  /** null: the bundle has no graph for it */
  readonly embed: EmbedAnswer | null;
  readonly ask: CheckAnswer;
  readonly snapshot: SnapshotTest;
  readonly discover: FoundCameras;
  readonly addresses: CameraAddresses;
  readonly compare: ComparedPair;
}

/** The message on that channel; `id` is that of the job. */
export type Reply =
  | { readonly id: string; readonly answer: Answers[Question['kind']] }
  | {
      readonly id: string;
      readonly error: { readonly code: ErrorCode; readonly detail: string; readonly field?: string };
    };
