/** A thing that one frame of a pair shows and the other does not, as the pixels show it: the input of the visits. */
import { type Static, Type } from 'typebox';
import { SIDES } from '../base/images.js';
import { BoxSchema } from './box.js';
import { literals } from './constructors.js';

export const SeenThingSchema = Type.Object(
  {
    region: Type.Integer({ minimum: 1, description: 'Id of the region that it is part of.' }),
    side: literals(SIDES, 'The frame that shows it.'),
    box: BoxSchema,
    colours: Type.Array(Type.Integer({ minimum: 0, maximum: 100 }), {
      description: 'Shares of its colours in per cent: ten colours for each of three bands, the topmost first.',
    }),
    filled: Type.Number({ description: 'Share of the box that differs between the frames, 0 to 1.' }),
  },
  { $id: 'SeenThing' },
);
export type SeenThing = Static<typeof SeenThingSchema>;
