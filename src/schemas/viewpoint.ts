/** The camera motion between the two frames of a comparison. */
import { type Static, Type } from 'typebox';
import { count, flag, literals, text, unit } from './constructors.js';

export const ViewpointSchema = Type.Union(
  [
    Type.Object({
      moved: flag('The camera points in another direction.'),
      shift_px: Type.Number({ minimum: 0, description: 'Shift of the centre of the frame, in pixels of `after`.' }),
      rotation_deg: Type.Number({ description: 'Clockwise.' }),
      scale: Type.Number({ exclusiveMinimum: 0, description: 'Above 1 if things are larger in `after`.' }),
      overlap: unit('Share of the view of `before` that `after` still shows.'),
      inliers: count('Corners that agree with this motion.'),
      residual_px: Type.Number({
        minimum: 0,
        description: 'Root mean square error of these corners, in pixels of `after`.',
      }),
    }),
    Type.Object({
      refused: literals(
        ['too_small', 'shape', 'before_featureless', 'after_featureless', 'no_common_view'],
        'Reason why no camera motion can be estimated.',
      ),
      detail: text('The measured and the expected value.'),
    }),
  ],
  {
    $id: 'Viewpoint',
    description: 'Estimated camera motion between the frames, or the reason why there is no estimate.',
  },
);
export type Viewpoint = Static<typeof ViewpointSchema>;
