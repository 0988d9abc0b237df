/** Schema of the shares of two frames that could be decoded. */
import { Type } from 'typebox';
import { unit } from './constructors.js';

export const DecodedSchema = Type.Object(
  { before: unit('Share of `before`.'), after: unit('Share of `after`.') },
  {
    description:
      'Present if a JPEG was cut off: the share of its rows that could be decoded. The other rows were not ' +
      'compared, so that the answer holds for the decoded part alone.',
  },
);
