/** Route of the picture of a change: one small JPEG, for receivers that keep or show a single picture. */
import { Type } from 'typebox';
import { HOUR_MS } from '../../base/clock.js';
import { ScenedeltaError } from '../../base/errors.js';
import { once } from '../../base/once.js';
import { shownFrame } from '../../schemas/shown-change.js';
import { ChangeIdParams, changesOf, config as reading, tags } from '../changes/one-change.js';
import type { Api } from '../dependencies.js';
import { binary, FrameQuery, media, problems } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const config = { ...reading, signedLinks: true };
const MOST_BYTES = 16_777_216;

export function changePictureRoutes(app: Api, deps: RouteContext): void {
  const { options } = deps;
  /** Loaded with the first picture. */
  const pictures = once(async () => {
    const { createPictures } = await import('../../frames/change-picture.js');
    return createPictures({ ...deps, decodeLimits: options });
  });
  const { find } = changesOf(deps);
  const schema = {
    operationId: 'readChangePicture',
    summary: 'Read the picture of a change',
    description:
      'The frame that shows the change best, after privacy masks and with the change outlined, beside a crop of the ' +
      'changed place: the largest JPEG, with a frame of at most 1280 pixels, that fits into `bytes`. `Expires` is the end ' +
      'of the retention of the frame. Opens with an API key or through a signed link.',
    tags,
    params: ChangeIdParams,
    querystring: Type.Object(
      {
        bytes: Type.Optional(
          Type.Integer({ minimum: 1_024, maximum: MOST_BYTES, default: 262_144, description: 'Most bytes.' }),
        ),
        ...FrameQuery.properties,
      },
      { additionalProperties: false },
    ),
    response: {
      200: media('The picture.', { 'image/jpeg': binary }, { Expires: Type.String() }),
      ...problems(['not-found', 'gone']),
    },
  };
  app.get('/v1/changes/:id/picture', { schema, config }, async (request, reply) => {
    const change = await find(request.params.id, request.visibility);
    const pictureOf = await pictures();
    const picture = await pictureOf(shownFrame(change), request.query.bytes ?? MOST_BYTES);
    if (picture === undefined) {
      throw new ScenedeltaError('gone', `The frame of ${change.id} is no longer kept, or no size fits into bytes`);
    }
    const [finished, camera] = await Promise.all([
      deps.results.get(change.comparisons.best).then((stored) => stored?.comparison.finished_at),
      deps.cameras.get(change.camera),
    ]);
    const hours = Math.min(options.frameRetentionHours, camera?.settings.retention.frames_hours ?? Infinity);
    const end = (finished == null ? deps.clock() : Date.parse(finished)) + hours * HOUR_MS;
    return reply.header('Expires', new Date(end).toUTCString()).type('image/jpeg').send(picture);
  });
}
