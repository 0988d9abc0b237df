/** Schema of `calibration.facts` of a bundle's manifest: places, ways and counts (place-facts.ts). */
import { type Static, Type } from 'typebox';

const strict = { additionalProperties: false };
const Probability = Type.Number({ minimum: 0, maximum: 1 });
const Real = Type.Number();
const Slope = Type.Object({ scale: Type.Number({ minimum: 0 }), offset: Real }, strict);
/** Calibration of the facts besides nouns and colours, fitted on held-out pairs; absent = the scores of the graphs. */
export const FactCalibrationSchema = Type.Object(
  {
    /** of the log-odds of all words of a place phrase */
    place: Slope,
    /** probability that the third of the frame, and the side that the regions moved to, are true */
    third: Probability,
    sideways: Probability,
    /** probability that a thing came closer, or went further away, whose regions show it; absent = it is not written */
    depth: Type.Optional(Probability),
    /** probability of the count of a phrase in the singular, and of one in the plural */
    one: Probability,
    several: Probability,
  },
  strict,
);
export type FactCalibration = Static<typeof FactCalibrationSchema>;
