/** One bundle that is served, as the API lists it. */
import { type Static, Type } from 'typebox';

export const ModelDescriptionSchema = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    sha256: Type.String({ description: "Hash over the bundle's files, as its manifest states them." }),
    architecture: Type.String(),
    licence: Type.String(),
    provider: Type.String({ description: "Where it runs: 'cpu' or 'cuda:N'." }),
    default: Type.Boolean({ description: 'Used where a request names no model.' }),
    metrics: Type.Record(Type.String(), Type.Unknown(), {
      description: "What was measured on it, as the bundle's manifest states it.",
    }),
  },
  { $id: 'ModelDescription' },
);
export type ModelDescription = Static<typeof ModelDescriptionSchema>;
