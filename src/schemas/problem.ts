/** The body of an answer with an error. */
import { Type } from 'typebox';

export const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    field: Type.Optional(Type.String()),
  },
  { $id: 'Problem', description: 'RFC 9457 problem details.' },
);
