/** Questions to a worker, answered from a list. */
import type { ApiDependencies } from '../../src/api/dependencies.js';
import { ScenedeltaError } from '../../src/base/errors.js';
import type { Question } from '../../src/jobs/questions.js';

export class FakeQuestions implements Pick<ApiDependencies['questions'], 'ask'> {
  readonly asked: Question[] = [];
  /** of the next question; absent: no worker answers */
  answer: unknown;

  async ask(question: Question): Promise<never> {
    this.asked.push(question);
    if (this.answer instanceof Error) throw this.answer;
    if (this.answer === undefined) throw new ScenedeltaError('overloaded', 'No worker answered within 5 s');
    return this.answer as never;
  }
}
