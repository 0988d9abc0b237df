/**
 * Questions: short requests of the API, which has no model, that a worker answers. The API adds a job and waits; the
 * worker publishes its reply on the channel that the job names. `questioner.ts` is the asking side,
 * `workers/question-job.ts` the other.
 */
import { type Static, Type } from 'typebox';
import type { ErrorCode } from '../base/errors.js';
import type { CheckAnswer } from '../schemas/ask.js';
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
  certificate: Type.Union([Type.String(), Type.Null()]),
  /** encrypted (login.ts) */
  login: Type.Optional(Type.String()),
});

/** A frame of a camera now, by the address of its snapshots. */
const PullQuestionSchema = Type.Object({ kind: Type.Literal('pull'), camera: Type.String() });

/** `replyTo`: the channel of Redis that the asking process listens on. */
export const QuestionJobSchema = Type.Object({
  v: version,
  replyTo: Type.String(),
  question: Type.Union([EmbedQuestionSchema, AskQuestionSchema, SnapshotQuestionSchema, PullQuestionSchema]),
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
/** Answer per kind of question, as plain JSON. */
export interface Answers {
  /** null: the bundle has no graph for it */
  readonly embed: EmbedAnswer | null;
  readonly ask: CheckAnswer;
  readonly snapshot: SnapshotTest;
  /** id of the comparison of the frame */
  readonly pull: string;
}

/** The message on that channel; `id` is that of the job. */
export type Reply =
  | { readonly id: string; readonly answer: Answers[Question['kind']] }
  | {
      readonly id: string;
      readonly error: { readonly code: ErrorCode; readonly detail: string; readonly field?: string };
    };
