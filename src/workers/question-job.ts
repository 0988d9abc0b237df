/** The job of a question (jobs/questions.ts): one worker answers it and publishes the reply. */
import { asScenedeltaError } from '../errors.js';
import { parseJob } from '../jobs/payloads.js';
import { type Answers, type Question, QuestionJobSchema, type Reply } from '../jobs/questions.js';
import type { Logger } from '../logger.js';
import type { Pipeline } from '../pipeline/compare.js';

export interface QuestionDependencies {
  readonly pipeline: Pick<Pipeline, 'embedTexts'>;
  readonly publish: (channel: string, message: string) => Promise<unknown>;
  readonly logger: Pick<Logger, 'warn'>;
}
export type QuestionProcessor = (id: string, payload: unknown) => Promise<string>;

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
    const { code, message } = asScenedeltaError(thrown);
    return { id, error: { code, detail: message } };
  }
}

async function answer({ text }: Question, { pipeline }: QuestionDependencies): Promise<Answers['embed']> {
  const embedded = await pipeline.embedTexts([text], null);
  const [values] = embedded?.vectors ?? [];
  if (embedded === undefined || values === undefined) return null;
  return { bundle: embedded.bundle, values: [...values], least: embedded.least };
}
