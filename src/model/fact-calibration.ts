/** Schema of `calibration.facts` of a bundle's manifest; training/journal/levels.md states the use of each number. */
import { type Static, Type } from 'typebox';

const strict = { additionalProperties: false };
const Probability = Type.Number({ minimum: 0, maximum: 1 });
const Real = Type.Number();
const Slope = Type.Object({ scale: Type.Number({ minimum: 0 }), offset: Real }, strict);
/** Calibration of the facts besides nouns and colours, fitted on held-out pairs; absent = the scores of the graphs. */
export const FactCalibrationSchema = Type.Object(
  {
    /** weights of the log-odds of pipeline/clause-probability.ts */
    clause: Type.Object(
      { kind: Real, move: Real, twin: Real, nothing: Real, score: Real, area: Real, offset: Real },
      strict,
    ),
    /** of the log-odds of all words of a place phrase, or of a way; agreement: of the boxes with the way, -1..1 */
    place: Slope,
    way: Type.Object({ ...Slope.properties, agreement: Real }, strict),
    /** probability that the third of the frame, and the side that the regions moved to, are true */
    third: Probability,
    sideways: Probability,
    /** probability that a thing came closer, or went further away, whose regions show it; absent = it is not written */
    depth: Type.Optional(Probability),
    /** probability of the count of a phrase in the singular, and of one in the plural */
    one: Probability,
    several: Probability,
    /**
     * for places whose clause is uncertain: pairs of the share of them that changed, and the map score from which on
     * they have that share, ascending; absent = they are not counted
     */
    counted: Type.Optional(Type.Array(Type.Tuple([Probability, Probability]), { minItems: 1 })),
  },
  strict,
);
export type FactCalibration = Static<typeof FactCalibrationSchema>;
