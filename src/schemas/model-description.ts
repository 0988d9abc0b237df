/** A served bundle, as the API lists it. */
import { type Static, Type } from 'typebox';
import { flag, text, unit } from './constructors.js';

export const ModelDescriptionSchema = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    sha256: text("Hash over the bundle's files, as its manifest states them."),
    architecture: Type.String(),
    licence: Type.String(),
    provider: text("Device that runs it: 'cpu' or 'cuda:N'."),
    default: flag('Used if a request names no model.'),
    metrics: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Its metrics, as the manifest of the bundle states them.',
    }),
    operating_points: Type.Optional(
      Type.Array(Type.Object({ false_alarm_rate: unit(), threshold: unit() }), {
        description: 'Measured false-alarm rate per threshold; false-alarm budgets are computed from it.',
      }),
    ),
  },
  { $id: 'ModelDescription' },
);
export type ModelDescription = Static<typeof ModelDescriptionSchema>;
