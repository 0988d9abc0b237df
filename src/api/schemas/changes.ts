/** Bodies of the change routes. */
import { type Static, Type } from 'typebox';
import { FeedbackSchema } from '../../schemas/change.js';

const { at: _at, by: _by, ...given } = FeedbackSchema.properties;
export const FeedbackRequestSchema = Type.Object(given, {
  $id: 'FeedbackRequest',
  additionalProperties: false,
});
export type FeedbackRequest = Static<typeof FeedbackRequestSchema>;
