/** Body of the route of questions. */
import { type Static, Type } from 'typebox';

/** Longer than any caption. */
const MAX_LENGTH = 500;

export const AskRequestSchema = Type.Object(
  {
    sentence: Type.String({
      minLength: 1,
      maxLength: MAX_LENGTH,
      description: 'In English, as the captions are worded: "a white van has appeared on the left".',
    }),
  },
  { $id: 'AskRequest', additionalProperties: false },
);
export type AskRequest = Static<typeof AskRequestSchema>;
