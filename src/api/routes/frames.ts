/** Route of the frames of a comparison. */
import { Type } from 'typebox';
import { ScenedeltaError } from '../../base/errors.js';
import { IMAGE_TYPES } from '../../base/image-type.js';
import type { Box } from '../../base/images.js';
import { once } from '../../base/once.js';
import { servedFrame } from '../../frames/served-frame.js';
import { literals } from '../../schemas/constructors.js';
import { isFinal } from '../../schemas/finding.js';
import { findComparison } from '../comparisons/find-comparison.js';
import type { Api } from '../dependencies.js';
import { binary, FrameQuery, media, PICTURE_CACHE, problems, RESPONSE_HEADERS, SideParams } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

export function frameRoutes(app: Api, deps: RouteContext): void {
  const { options, keeper } = deps;
  /** Loaded with the first small picture, as the decoder that it needs. */
  const small = once(async () => (await import('../../frames/thumbnail.js')).createThumbnails(options));
  const schema = {
    operationId: 'readFrame',
    summary: 'Read one of the two frames',
    description:
      'The bytes as they were sent or fetched; for a camera with privacy zones, a JPEG in which the ' +
      'zones are black. Opens with an API key or through a signed link.',
    tags: ['comparisons'],
    params: SideParams,
    querystring: Type.Object({
      ...FrameQuery.properties,
      size: Type.Optional(
        literals(['full', 'small'], {
          default: 'full',
          description: 'small: as a JPEG of at most 480 px on each side, for lists.',
        }),
      ),
      around: Type.Optional(
        Type.String({
          pattern: '^[01](?:\\.[0-9]{1,4})?(?:,[01](?:\\.[0-9]{1,4})?){3}$',
          description:
            'x,y,width,height of the box of a thing, in shares of the frame. The answer is the part of the frame ' +
            'around it, as a JPEG of at most 480 px on each side.',
          examples: ['0.42,0.3,0.05,0.12'],
        }),
      ),
    }),
    response: {
      200: media('The frame.', Object.fromEntries(IMAGE_TYPES.map((type) => [type, binary])), RESPONSE_HEADERS.etag),
      304: { description: 'Unchanged since `If-None-Match`.', type: 'null' },
      ...problems(['not-found', 'not-finished', 'gone']),
    },
  };
  const config = { scope: 'read', signedLinks: true } as const;
  app.get('/v1/comparisons/:id/frames/:side', { schema, config }, async (request, reply) => {
    const { id, side } = request.params;
    const stored = await findComparison(deps, id, request.visibility);
    const frame = await servedFrame(stored, side, deps, keeper);
    if (frame === null) {
      const final = isFinal(stored.comparison.status);
      throw new ScenedeltaError(
        final ? 'not-found' : 'not-finished',
        `The ${side} frame of ${id} has not been fetched${final ? '' : ' yet'}`,
      );
    }
    const { around } = request.query;
    const isSmall = request.query.size === 'small' || around !== undefined;
    const etag = isSmall ? frame.etag.replace(/"$/, `-${around ?? 'small'}"`) : frame.etag;
    reply.header('ETag', etag).header('Cache-Control', PICTURE_CACHE);
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    const bytes = isSmall
      ? await (await small()).read(etag, frame, side, around === undefined ? undefined : boxOf(around))
      : await frame.bytes();
    if (bytes === undefined) {
      throw new ScenedeltaError('gone', `The ${side} frame of ${id} is no longer kept (FRAME_RETENTION_HOURS)`);
    }
    // The browser must use this content type and not guess one from bytes of an unknown sender.
    reply.header('X-Content-Type-Options', 'nosniff').type(isSmall ? 'image/jpeg' : frame.contentType);
    return reply.send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  });
}

/** @param text as the parameter `around` */
function boxOf(text: string): Box {
  const [x, y, width, height] = text.split(',').map(Number) as [number, number, number, number];
  return { x, y, width, height };
}
