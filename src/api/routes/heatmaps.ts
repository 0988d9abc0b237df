/** Route of heatmaps, which are rendered from the stored maps on request. */
import { Type } from 'typebox';
import { heatmapKey } from '../../base/blobs.js';
import { invalidValue, notFound, ScenedeltaError } from '../../base/errors.js';
import type { Heatmap, Side } from '../../base/images.js';
import { once } from '../../base/once.js';
import { type ServedFrame, servedFrame } from '../../frames/served-frame.js';
import type { HeatmapData } from '../../heatmaps/data.js';
import { literals } from '../../schemas/constructors.js';
import { isFinal } from '../../schemas/finding.js';
import type { StoredComparison } from '../../stores/comparisons/results.js';
import { findComparison } from '../comparisons/find-comparison.js';
import type { Api, ApiDependencies } from '../dependencies.js';
import type { Style } from '../heatmap-painter.js';
import { binary, FrameQuery, media, PICTURE_CACHE, problems, RESPONSE_HEADERS, SideParams } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const RAW_HEADERS = {
  'Heatmap-Width': Type.Integer({ description: 'raw only: columns of the grid.' }),
  'Heatmap-Height': Type.Integer({ description: 'raw only: rows of the grid.' }),
};

const STYLES = ['outline', 'overlay', 'gray'] as const satisfies readonly Style[];

const HeatmapQuery = Type.Object(
  {
    style: Type.Optional(
      literals([...STYLES, 'raw'], {
        default: 'outline',
        description:
          'outline: lines around the area of values from 0.5 on, with a light tint. overlay: colours over the frame, opaque in proportion to the value. gray: the map alone, ' +
          'black 0, white 1. raw: the grid itself.',
      }),
    ),
    word: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 255,
        description: 'Heatmap of this word of the caption (position in `words`, from 0) instead of the change.',
      }),
    ),
    ...FrameQuery.properties,
  },
  { additionalProperties: false },
);

export function heatmapRoutes(app: Api, deps: RouteContext): void {
  const { options, keeper } = deps;
  /** Loaded with the first heatmap. */
  const painter = once(async () => (await import('../heatmap-painter.js')).createHeatmapPainter(options));
  const schema = {
    operationId: 'readHeatmap',
    summary: 'Read a heatmap of the change',
    description:
      'A PNG as large as the frame, at most 1280 pixels on its longer side. `style=raw` is the grid ' +
      'itself: float32, little endian, row by row from the top left, values 0 to 1, `Heatmap-Width` x ' +
      '`Heatmap-Height` of them. Opens with an API key or through a signed link.',
    tags: ['comparisons'],
    params: SideParams,
    querystring: HeatmapQuery,
    response: {
      200: media(
        'The heatmap.',
        { 'image/png': binary, 'application/octet-stream': binary },
        { ...RESPONSE_HEADERS.etag, ...RAW_HEADERS },
      ),
      304: { description: 'Unchanged since `If-None-Match`.', type: 'null' },
      ...problems(['not-found', 'not-finished', 'gone', 'invalid-value']),
    },
  };
  const config = { scope: 'read', signedLinks: true } as const;
  app.get('/v1/comparisons/:id/heatmaps/:side', { schema, config }, async (request, reply) => {
    const { id, side } = request.params;
    const { style = 'outline', word } = request.query;
    const stored = await findComparison(deps, id, request.visibility);
    const maps = await readMaps(stored, deps);
    const mask = await deps.cameras.maskOf(stored.comparison.camera);
    const unmasked = word === undefined ? maps[side] : wordMap(maps.words[side], word);
    const map = mask === null ? unmasked : (await import('../../frames/privacy-mask.js')).maskedMap(unmasked, mask);
    const frame = await servedFrame(stored, side, deps, keeper);
    const etag = `"${id}-${side}-${style}-${word ?? 'change'}-${mask?.id ?? ''}-${frame?.etag.slice(1, -1) ?? ''}"`;
    reply.header('ETag', etag).header('Cache-Control', PICTURE_CACHE);
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    if (style === 'raw') {
      reply.header('Heatmap-Width', map.width).header('Heatmap-Height', map.height);
      return reply.type('application/octet-stream').send(littleEndian(map));
    }
    const { paint } = await painter();
    const png = await paint(map, await readFrame(stored, side, frame), style);
    return reply.type('image/png').send(png);
  });
}

async function readMaps({ comparison }: StoredComparison, deps: Pick<ApiDependencies, 'blobs'>): Promise<HeatmapData> {
  const { id, status, model, camera_frame } = comparison;
  if (!isFinal(status)) {
    throw new ScenedeltaError('not-finished', `The comparison ${id} is ${status}, expected finished`);
  }
  if (status !== 'finished' || model == null) {
    const why = status === 'finished' ? 'its frames were identical and no model was asked' : `it is ${status}`;
    throw notFound(`The comparison ${id} has no heatmaps: ${why}`);
  }
  // The maps of a quiet frame are those of the frame that it equals.
  const bytes = await deps.blobs.get(heatmapKey(camera_frame?.nothing_new_since?.comparison ?? id));
  const { decodeHeatmapData } = await import('../../heatmaps/data.js');
  if (bytes !== undefined) return decodeHeatmapData(bytes);
  throw new ScenedeltaError('gone', `The heatmaps of ${id} are no longer kept (HEATMAP_RETENTION_HOURS)`);
}

async function readFrame({ comparison }: StoredComparison, side: Side, frame: ServedFrame | null): Promise<Uint8Array> {
  const bytes = await frame?.bytes();
  if (bytes !== undefined) return bytes;
  throw new ScenedeltaError(
    'gone',
    `The ${side} frame of ${comparison.id} is no longer kept (FRAME_RETENTION_HOURS); style=raw needs no frame`,
  );
}

function wordMap(words: readonly Heatmap[], index: number): Heatmap {
  const map = words[index];
  if (map !== undefined) return map;
  const expected = words.length === 0 ? 'none: no word has a map' : `0 to ${words.length - 1}`;
  throw invalidValue(`word is ${index}, expected ${expected}`, 'word');
}

function littleEndian({ data }: Heatmap): Buffer {
  const bytes = Buffer.alloc(data.length * 4);
  for (const [i, value] of data.entries()) bytes.writeFloatLE(value, i * 4);
  return bytes;
}
