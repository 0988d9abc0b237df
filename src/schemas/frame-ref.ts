/** Frame reference: where the bytes of a frame are. */
import { type Static, Type } from 'typebox';
import { text } from './constructors.js';

/** stored: in the blob store. url, s3: fetched by the worker through the guarded outbound client. */
const FrameRefSchema = Type.Union([
  Type.Object({
    from: Type.Literal('stored'),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    bytes: Type.Integer({ minimum: 0 }),
    contentType: Type.String(),
    mask: Type.Optional(text("id of the camera's privacy mask that is painted on these bytes")),
  }),
  Type.Object({ from: Type.Literal('url'), url: Type.String() }),
  Type.Object({ from: Type.Literal('s3'), bucket: Type.String(), key: Type.String() }),
]);
export type FrameRef = Static<typeof FrameRefSchema>;
export type StoredFrameRef = Extract<FrameRef, { from: 'stored' }>;
