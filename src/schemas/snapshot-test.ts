/** Answer to the test of an address of a camera. */
import { type Static, Type } from 'typebox';
import { dateTime } from './constructors.js';

export const SnapshotTestSchema = Type.Object(
  {
    at: dateTime('Time at which the picture was there; a frame of this address would get it as `captured_at`.'),
    bytes: Type.Integer({ minimum: 1, description: 'Bytes of the picture.' }),
    width: Type.Integer({ minimum: 1, description: 'Width of the upright picture, px.' }),
    height: Type.Integer({ minimum: 1, description: 'Height of the upright picture, px.' }),
    picture: Type.String({
      contentEncoding: 'base64',
      contentMediaType: 'image/jpeg',
      description: 'The picture as a small JPEG, with the privacy zones of the camera.',
    }),
  },
  { $id: 'SnapshotTest', description: 'The picture that an address delivers.' },
);
export type SnapshotTest = Static<typeof SnapshotTestSchema>;
