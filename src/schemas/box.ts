/** Schema of a rectangle in a frame. */
import { Type } from 'typebox';
import { unit } from './constructors.js';

export const BoxSchema = Type.Object(
  { x: unit('left edge'), y: unit('top edge'), width: unit('width'), height: unit('height') },
  { $id: 'Box', description: 'Fractions of the frame, origin top left.' },
);
