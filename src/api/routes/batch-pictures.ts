/** Route of the pictures that the records of a batch name. */
import { Type } from 'typebox';
import { ScenedeltaError } from '../../errors.js';
import { IMAGE_TYPES, imageTypeOf } from '../../image-type.js';
import { batchPictureKey } from '../../stores/batches.js';
import { BatchIdParams, findBatch } from '../batches/find.js';
import type { Api, ApiDependencies } from '../dependencies.js';
import { binary, media, PICTURE_CACHE, problems } from '../schemas/shared.js';

const schema = {
  operationId: 'readBatchPicture',
  summary: 'Read a picture of a change or visit in footage',
  description:
    'A frame after privacy masks. `pictures` of a change and `shown` of a visit have its path, relative to that of ' +
    'the batch.',
  tags: ['batches'],
  params: Type.Object({
    ...BatchIdParams.properties,
    name: Type.String({
      pattern: '^((chg_[0-9a-z]{26}|changed|changed-back)-(before|after)|vis_[0-9a-z]{26})\\.jpg$',
      description: 'File name of the picture.',
      examples: ['chg_01k9x3v5s8q2m7c4w6n1b0t9hz-after.jpg'],
    }),
  }),
  response: {
    200: media('The picture.', Object.fromEntries(IMAGE_TYPES.map((type) => [type, binary]))),
    ...problems(['not-found', 'gone', 'storage-unavailable']),
  },
};

export function batchPictureRoutes(app: Api, deps: Pick<ApiDependencies, 'batches' | 'blobs'>): void {
  app.get('/v1/batches/:id/pictures/:name', { schema, config: { scope: 'batch' } }, async (request, reply) => {
    const { id, name } = request.params;
    await findBatch(deps, id, request.visibility);
    const bytes = await deps.blobs.get(batchPictureKey(id, name));
    if (bytes === undefined) throw new ScenedeltaError('gone', `The batch ${id} has no picture ${name} any more`);
    reply.header('Cache-Control', PICTURE_CACHE).header('X-Content-Type-Options', 'nosniff');
    // The frames of a search keep the format of the image files that they were.
    return reply
      .type(imageTypeOf(bytes) ?? 'image/jpeg')
      .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  });
}
