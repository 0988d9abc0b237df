/** Route of questions about a comparison: how probable is a sentence? */
import { notFound, ScenedeltaError } from '../../base/errors.js';
import { isFinal } from '../../schemas/finding.js';
import { roundFigures } from '../../schemas/rounding.js';
import { checker } from '../../schemas/validation-error.js';
import { findComparison } from '../comparisons/find-comparison.js';
import type { Api } from '../dependencies.js';
import { type AskRequest, AskRequestSchema } from '../schemas/comparison-request.js';
import { ComparisonIdParams, json, problems, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const checkAsk = checker(AskRequestSchema);

export function askRoutes(app: Api, deps: RouteContext): void {
  const schema = {
    operationId: 'askComparison',
    summary: 'Ask how probable a sentence is',
    description:
      'A worker runs the truth check of the model on both frames, while they are kept. Verdict and caption of the ' +
      'comparison stay as they are.',
    tags: ['comparisons'],
    params: ComparisonIdParams,
    body: { content: { 'application/json': { schema: ref('AskRequest') } } },
    response: {
      200: json('The probability.', ref('AskAnswer')),
      ...problems([
        ...(['not-found', 'not-finished', 'gone', 'malformed-body', 'unsupported-media-type'] as const),
        ...(['invalid-value', 'overloaded'] as const),
      ]),
    },
  };
  app.post('/v1/comparisons/:id/ask', { schema, config: { scope: 'compare' } }, async (request) => {
    const { id } = request.params;
    const { sentence } = checkAsk(request.body) as AskRequest;
    const { comparison, frames } = await findComparison(deps, id, request.visibility);
    if (!isFinal(comparison.status)) {
      throw new ScenedeltaError('not-finished', `${id} is ${comparison.status}, expected a finished comparison`);
    }
    if (frames.before === null || frames.after === null) {
      throw notFound(`${id} has no two frames to ask about`);
    }
    const answer = await deps.questions.ask({ kind: 'ask', comparison: id, sentence });
    // Loaded with the first question: no other request reads a sentence by facts.
    const { probabilityByFacts } = await import('../../camera/changes/rule-sentences.js');
    return roundFigures({ ...answer, by_facts: probabilityByFacts(sentence, comparison) });
  });
}
