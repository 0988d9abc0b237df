/** Bodies of the change routes. */
import { type Static, Type } from 'typebox';
import { FeedbackSchema } from '../../schemas/feedback.js';
import { CHANGE_ID_PATTERN } from './list-changes.js';

const { at: _at, by: _by, ...given } = FeedbackSchema.properties;
export const FeedbackRequestSchema = Type.Object(given, { $id: 'FeedbackRequest', additionalProperties: false });
export type FeedbackRequest = Static<typeof FeedbackRequestSchema>;

export const BulkFeedbackRequestSchema = Type.Object(
  {
    changes: Type.Array(Type.String({ pattern: CHANGE_ID_PATTERN }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'Ids of the changes.',
    }),
    judgement: given.judgement,
  },
  { $id: 'BulkFeedbackRequest', additionalProperties: false },
);
export type BulkFeedbackRequest = Static<typeof BulkFeedbackRequestSchema>;
