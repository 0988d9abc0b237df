/** One change, as its routes find, alter and answer it. */
import { Type } from 'typebox';
import { notFound } from '../../base/errors.js';
import type { Change } from '../../schemas/change.js';
import type { Feedback } from '../../schemas/feedback.js';
import { roundFigures } from '../../schemas/rounding.js';
import { checker } from '../../schemas/validation-error.js';
import { seesCamera, type Visibility } from '../../stores/redis/visibility.js';
import type { ApiDependencies } from '../dependencies.js';
import { type FeedbackRequest, FeedbackRequestSchema } from '../schemas/changes.js';
import { CHANGE_ID_PATTERN } from '../schemas/list-changes.js';
import { json, problems, ref } from '../schemas/shared.js';

/** For routes that alter nothing. */
export const config = { scope: 'read' } as const;
/** For routes by which a person judges. */
export const judging = { scope: 'judge' } as const;
export const tags = ['changes'];

export const ChangeIdParams = Type.Object({
  id: Type.String({
    pattern: CHANGE_ID_PATTERN,
    description: 'Id of the change.',
    examples: ['chg_01k9x3v5s8q2m7c4w6n1b0t9hz'],
  }),
});

export const CHANGE_RESPONSES = {
  200: json('The current state of the change.', ref('Change')),
  ...problems(['not-found']),
};

const checkFeedback = checker(FeedbackRequestSchema);
/** @throws ValidationError. @returns the judgement of a request, of a change or a visit */
export function feedbackOf({ body, apiKeyId }: { body: unknown; apiKeyId?: string | undefined }): Omit<Feedback, 'at'> {
  const given = checkFeedback(body) as FeedbackRequest;
  return { ...given, ...(apiKeyId === undefined ? {} : { by: apiKeyId }) };
}

const noChange = (id: string) => notFound(`There is no change ${id}: it never was or has expired`);

export function changesOf({ changes }: Pick<ApiDependencies, 'changes'>) {
  /** @throws ScenedeltaError 'not-found', also for a change of a camera that the request may not see */
  const find = async (id: string, visibility: Visibility): Promise<Change> => {
    const change = await changes.get(id);
    if (change !== undefined && seesCamera(visibility, change.camera)) return roundFigures(change);
    throw noChange(id);
  };
  return {
    find,
    /** @throws ScenedeltaError 'not-found', as `find` does, and if the change was erased meanwhile */
    async altered(
      { params: { id }, visibility }: { params: { id: string }; visibility: Visibility },
      alter: (id: string) => Promise<Change | undefined>,
    ): Promise<Change> {
      await find(id, visibility);
      const change = await alter(id);
      if (change !== undefined) return roundFigures(change);
      throw noChange(id);
    },
  };
}
