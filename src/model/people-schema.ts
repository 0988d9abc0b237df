/** Schema of `people` of a bundle's manifest: how crops for the graph `people` are cut, and who counts as a person. */
import { type Static, Type } from 'typebox';

const Share = Type.Number({ minimum: 0, maximum: 1 });

export const PeopleRuleSchema = Type.Object(
  {
    /** side of a crop in pixels; 32 is the largest stride of the detector */
    size: Type.Integer({ minimum: 32, multipleOf: 32 }),
    /** side of a crop by the longer side of its region, and its least side by the width of the frame */
    margin: Type.Number({ minimum: 1 }),
    min_side: Share,
    /** least score of a person */
    least: Share,
  },
  { additionalProperties: false },
);
export type PeopleRule = Static<typeof PeopleRuleSchema>;
