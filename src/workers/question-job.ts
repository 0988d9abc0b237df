/** The job of a question (jobs/questions.ts): one worker answers it and publishes the reply. */
import { asScenedeltaError, notFound } from '../base/errors.js';
import type { FetchFrame } from '../frames/fetch.js';
import { type DecodeLimits, frameSize } from '../frames/header.js';
import { thumbnail } from '../frames/thumbnail.js';
import { parseJob } from '../jobs/payloads.js';
import { type Answers, type Question, QuestionJobSchema, type QuestionOf, type Reply } from '../jobs/questions.js';
import { type QueueRow, runJob } from '../jobs/run-jobs.js';
import type { Pipeline } from '../pipeline/compare.js';
import type { Logger } from '../process/logger.js';
import { loginContext, openLogin } from '../secrets/login.js';
import type { CameraStore } from '../stores/cameras/cameras.js';
import type { ResultStore } from '../stores/comparisons/results.js';
import type { SnapshotPuller } from './camera-snapshot.js';

export interface QuestionDependencies {
  readonly pipeline: Pick<Pipeline, 'embedTexts' | 'ask'>;
  readonly results: Pick<ResultStore, 'get'>;
  readonly fetchFrame: FetchFrame;
  /** as fetchFrame, and stores nothing */
  readonly tryFrame: FetchFrame;
  readonly snapshots: Pick<SnapshotPuller, 'now'>;
  readonly decodeLimits: DecodeLimits;
  /** key of the logins of cameras */
  readonly loginKey: Buffer;
  readonly clock: () => number;
  readonly cameras: Pick<CameraStore, 'maskOf'>;
  readonly publish: (channel: string, message: string) => Promise<unknown>;
  readonly logger: Pick<Logger, 'warn'>;
}
type QuestionProcessor = (id: string, payload: unknown) => Promise<string>;

/**
 * @returns a processor of the payload of the job `id`. It rejects with ScenedeltaError if the payload cannot be read or
 *   Redis is away; other errors are the reply.
 */
export const createQuestionProcessor =
  (deps: QuestionDependencies): QuestionProcessor =>
  async (id, payload) => {
    const { replyTo, question } = parseJob(QuestionJobSchema, payload);
    const reply = await replyOf(id, question, deps);
    await deps.publish(replyTo, JSON.stringify(reply));
    return 'error' in reply ? reply.error.code : 'answered';
  };

async function replyOf(id: string, question: Question, deps: QuestionDependencies): Promise<Reply> {
  try {
    return { id, answer: await answer(question, deps) };
  } catch (thrown) {
    deps.logger.warn({ err: thrown, kind: question.kind }, 'question not answered');
    const { code, message: detail, field } = asScenedeltaError(thrown);
    return { id, error: { code, detail, ...(field === undefined ? {} : { field }) } };
  }
}

function answer(question: Question, deps: QuestionDependencies): Promise<Answers[Question['kind']]> {
  if (question.kind === 'embed') return embed(question, deps);
  if (question.kind === 'pull') return deps.snapshots.now(question.camera);
  return question.kind === 'ask' ? ask(question, deps) : trySnapshot(question, deps);
}

async function trySnapshot(question: QuestionOf<'snapshot'>, deps: QuestionDependencies): Promise<Answers['snapshot']> {
  const { camera, url, certificate } = question;
  const { tryFrame, cameras, decodeLimits, loginKey, clock } = deps;
  const field = 'url';
  const { login: sealed } = question;
  const login = sealed === undefined ? undefined : openLogin(sealed, loginKey, loginContext(camera, url));
  const mask = await cameras.maskOf(camera);
  const { signal } = new AbortController();
  const { bytes } = await tryFrame({ from: 'url', url }, { field, signal, mask, login, certificate });
  const at = new Date(clock()).toISOString();
  const limits = { ...decodeLimits, field };
  const [size, picture] = await Promise.all([frameSize(bytes, limits), thumbnail(bytes, limits)]);
  return { at, bytes: bytes.byteLength, ...size, picture: picture.toString('base64') };
}

/** Bound of the time that reading the frames takes; the pipeline has a bound of its own. */
const READ_MS = 5_000;

async function ask(
  { comparison: id, sentence }: QuestionOf<'ask'>,
  { pipeline, results, cameras, fetchFrame }: QuestionDependencies,
): Promise<Answers['ask']> {
  const stored = await results.get(id);
  const { before, after } = stored?.frames ?? { before: null, after: null };
  if (stored === undefined || before === null || after === null) {
    throw notFound(`${id} has no two frames to ask about`);
  }
  const mask = await cameras.maskOf(stored.comparison.camera);
  const signal = AbortSignal.timeout(READ_MS);
  const [first, second] = await Promise.all([
    fetchFrame(before, { field: 'before', signal, mask }),
    fetchFrame(after, { field: 'after', signal, mask }),
  ]);
  const model = stored.comparison.model?.name ?? stored.request.model;
  return pipeline.ask({ before: first.bytes, after: second.bytes, model }, sentence);
}

async function embed({ text }: QuestionOf<'embed'>, { pipeline }: QuestionDependencies): Promise<Answers['embed']> {
  const embedded = await pipeline.embedTexts([text], null);
  const [values] = embedded?.vectors ?? [];
  if (embedded === undefined || values === undefined) return null;
  return { bundle: embedded.bundle, values: [...values], least: embedded.least };
}

/** Questions that wait for the model at a time. */
const CONCURRENCY = 4;

export const questionQueue = (processor: QuestionProcessor, logger: Logger): QueueRow => ({
  run: (job) => runJob(logger, job, () => processor(String(job.id), job.data)),
  concurrency: CONCURRENCY,
});
