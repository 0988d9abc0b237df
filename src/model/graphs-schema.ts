/** Schema of `graphs` of a bundle's manifest: the files of its graphs, and their tensors. */
import { type Static, Type } from 'typebox';

const strict = { additionalProperties: false };
/** No path, because a bundle refers only to files of its own folder. */
export const FileName = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$' });

const TensorSpecSchema = Type.Object(
  {
    name: Type.String(),
    dtype: Type.Union([Type.Literal('float32'), Type.Literal('int64')]),
    /** a number is a fixed size, a string the name of a free size */
    shape: Type.Array(Type.Union([Type.Integer({ minimum: 1 }), Type.String()])),
  },
  strict,
);
export type TensorSpec = Static<typeof TensorSpecSchema>;

const GraphSpecSchema = Type.Object(
  { file: FileName, inputs: Type.Array(TensorSpecSchema), outputs: Type.Array(TensorSpecSchema) },
  strict,
);
export type GraphSpec = Static<typeof GraphSpecSchema>;

export const GraphsSchema = Type.Object(
  {
    features: GraphSpecSchema,
    difference: GraphSpecSchema,
    caption: GraphSpecSchema,
    statements: Type.Optional(GraphSpecSchema),
    names: Type.Optional(GraphSpecSchema),
    people: Type.Optional(GraphSpecSchema),
    check: Type.Optional(GraphSpecSchema),
    pair: Type.Optional(GraphSpecSchema),
    text: Type.Optional(GraphSpecSchema),
  },
  strict,
);
