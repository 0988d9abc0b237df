/** Routes of the results of a batch, and of the pictures that its records name. */
import { Type } from 'typebox';
import { invalidValue, notFound, ScenedeltaError } from '../../base/errors.js';
import { IMAGE_TYPES, imageTypeOf } from '../../base/image-type.js';
import { formatsOf, isBatchFinal, RESULT_FORMATS, type ResultFormat } from '../../schemas/batch.js';
import { literals } from '../../schemas/constructors.js';
import { type BatchRecord, batchPictureKey, batchResultKey } from '../../stores/batches/batches.js';
import { BatchIdParams, findBatch, modeOf } from '../batches/present.js';
import type { Api, ApiDependencies } from '../dependencies.js';
import { binary, media, PICTURE_CACHE, problems } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const tags = ['batches'];
const config = { scope: 'batch' } as const;

interface ResultFile {
  /** in the store */
  readonly name: string;
  /** of the name under which a browser saves it; absent: `name` has it */
  readonly ending?: string;
  readonly type: string;
}
const FILES: Readonly<Record<Exclude<ResultFormat, 'vtt'>, ResultFile>> = {
  ndjson: { name: 'changes.ndjson', type: 'application/x-ndjson' },
  csv: { name: 'changes.csv', type: 'text/csv; charset=utf-8' },
  json: { name: 'changes.json', type: 'application/json' },
  visits: { name: 'visits.ndjson', type: 'application/x-ndjson' },
  html: { name: 'report.html', type: 'text/html; charset=utf-8' },
  stats: { name: 'stats.ndjson', type: 'application/x-ndjson' },
};

export function batchResultRoutes(app: Api, deps: RouteContext): void {
  const resultsSchema = {
    operationId: 'readBatchResults',
    summary: 'Read the results of a completed batch',
    description:
      'ndjson, csv and json have the changes; visits a visit or passage per line; vtt the captions of one video; ' +
      'html is a report of one file with pictures; stats the evidence of each sampled frame. A batch of mode when ' +
      'has ndjson (an interval per line, with `event` changed or changed_back) and json (PlaceSearch).',
    tags,
    params: BatchIdParams,
    querystring: Type.Object(
      {
        format: Type.Optional(literals(RESULT_FORMATS, { default: 'ndjson' })),
        name: Type.Optional(
          Type.String({
            maxLength: 256,
            description: 'With vtt and several videos: which one, as the error lists them.',
          }),
        ),
        file: Type.Optional(
          Type.String({
            // Percent-encoded, longer ones exceed the 16 kB of a request's head.
            maxLength: 1024,
            description: 'With vtt, instead of `name`: the video as `first_seen.file` of its changes names it.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    response: {
      200: media('The results.', {
        'application/x-ndjson': Type.String(),
        'text/csv': Type.String(),
        'application/json': Type.Unknown({ description: 'For mode when: PlaceSearch.' }),
        'text/vtt': Type.String(),
        'text/html': Type.String(),
      }),
      ...problems(['not-found', 'not-finished', 'invalid-value', 'gone', 'storage-unavailable']),
    },
  };
  app.get('/v1/batches/:id/results', { schema: resultsSchema, config }, async (request, reply) => {
    const { id } = request.params;
    const { format = 'ndjson', name, file: video } = request.query;
    const batch = await findBatch(deps, id, request.visibility);
    const { status } = batch;
    if (status !== 'completed') throw notCompleted(id, status);
    const formats = formatsOf(modeOf(batch));
    if (!formats.includes(format)) {
      const came = `format is ${format} and the batch ${id} is of mode ${modeOf(batch)}`;
      throw invalidValue(`${came}, expected ${formats.join(' or ')}`, 'format');
    }
    const file: ResultFile = format === 'vtt' ? await captionsOf(id, { name, video }, deps.blobs) : FILES[format];
    const bytes = await deps.blobs.get(batchResultKey(id, file.name));
    if (bytes === undefined) throw new ScenedeltaError('gone', `The results of ${id} have been erased`);
    // The report has a script of its own, which the policy in the page allows by its hash.
    const saved = `${id}-${file.name}${file.ending ?? ''}`;
    return reply.type(file.type).header('Content-Disposition', `attachment; filename="${saved}"`).send(bytes);
  });
}

function notCompleted(id: string, status: BatchRecord['status']): ScenedeltaError {
  const ended = isBatchFinal(status);
  return new ScenedeltaError(
    ended ? 'gone' : 'not-finished',
    `The batch ${id} is ${status}, expected completed${ended ? ': it has no results' : '; read it for its progress'}`,
  );
}

/** Captions of one video in `vtt.json`. */
interface Captions {
  readonly name: string;
  readonly video: string;
}

/** @throws ScenedeltaError 'invalid-value' naming the videos, 'not-found' without any */
async function captionsOf(
  id: string,
  { name, video }: { name: string | undefined; video: string | undefined },
  blobs: ApiDependencies['blobs'],
) {
  const listed = await blobs.get(batchResultKey(id, 'vtt.json'));
  const all: Captions[] = listed === undefined ? [] : JSON.parse(Buffer.from(listed).toString());
  if (all.length === 0) throw notFound(`The batch ${id} has no video`);
  const names = all.map((one) => one.name);
  const byName = names.length === 1 && name === undefined ? 0 : names.indexOf(name ?? '');
  const index = video === undefined ? byName : all.findIndex((one) => one.video === video);
  if (index >= 0) return { name: `vtt-${index + 1}`, ending: '.vtt', type: 'text/vtt; charset=utf-8' };
  if (video !== undefined) {
    throw invalidValue(`file is ${video}, expected a video of the batch`, 'file');
  }
  const expected = `expected one of ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', ...' : ''}`;
  throw invalidValue(`name is ${name ?? 'absent'}: ${expected}`, 'name');
}

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
      pattern: '^((chg_[0-9a-z]{26}|changed|changed-back)-(before|after)|vis_[0-9a-z]{26})[.]jpg$',
      description: 'File name of the picture.',
      examples: ['chg_01k9x3v5s8q2m7c4w6n1b0t9hz-after.jpg'],
    }),
  }),
  response: {
    200: media('The picture.', Object.fromEntries(IMAGE_TYPES.map((type) => [type, binary]))),
    ...problems(['not-found', 'gone', 'storage-unavailable']),
  },
};

export function batchPictureRoutes(app: Api, deps: RouteContext): void {
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
