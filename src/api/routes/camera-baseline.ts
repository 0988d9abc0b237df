/** Routes of a camera's baseline: set it from a picture, or reset it. */
import type { FastifyRequest } from 'fastify';
import { checker } from '../../schemas/validation-error.js';
import { resetBaseline, setBaseline } from '../cameras/baseline.js';
import { readPicture } from '../cameras/picture.js';
import { findCamera } from '../cameras/present.js';
import type { Api } from '../dependencies.js';
import { readPictureForm } from '../intake/request.js';
import { type BaselineRequest, BaselineRequestSchema, CameraIdParams } from '../schemas/camera.js';
import { BODY_PROBLEMS, json, PICTURE_PROBLEMS, problems, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const tags = ['cameras'];
const TAKES_EFFECT =
  'It takes effect with the next frame of the camera, and the changes that are open then settle without an alert. ' +
  'A camera whose settings have a `reference` is refused: replace the reference with PUT /v1/cameras/{id}.';
const answer = json('The order; the next frame carries it out.', ref('BaselineOrder'));

const setSchema = {
  operationId: 'setCameraBaseline',
  summary: 'Compare the next frames with this picture',
  description:
    'The picture becomes the background of its light (`memory`), the frame before the next one (`previous`) or the ' +
    `reference (\`reference\`). Privacy zones are painted black. ${TAKES_EFFECT}`,
  tags,
  params: CameraIdParams,
  body: {
    content: {
      'multipart/form-data': { schema: ref('BaselineForm') },
      'application/json': { schema: ref('BaselineRequest') },
    },
  },
  response: {
    202: answer,
    ...problems([
      ...(['not-found', ...BODY_PROBLEMS, ...PICTURE_PROBLEMS, 'frames-differ-in-shape'] as const),
      ...(['invalid-value', 'storage-unavailable'] as const),
    ]),
  },
};

const resetSchema = {
  operationId: 'resetCameraBaseline',
  summary: 'Drop the baseline of a camera',
  description: `Drops all backgrounds, or the previous frame; the next frame begins a new baseline. ${TAKES_EFFECT}`,
  tags,
  params: CameraIdParams,
  response: { 202: answer, ...problems(['not-found', 'invalid-value']) },
};

const checkRequest = checker(BaselineRequestSchema);

export function cameraBaselineRoutes(app: Api, deps: RouteContext): void {
  const { options } = deps;
  const config = { scope: 'admin' } as const;
  const picture = { ...deps, ...options };
  const read = async (request: FastifyRequest, camera: string) =>
    request.isMultipart()
      ? readPictureForm(request, options)
      : readPicture((checkRequest(request.body) as BaselineRequest).frame, camera, 'frame', picture);

  app.put('/v1/cameras/:id/baseline', { schema: setSchema, config }, async (request, reply) => {
    const camera = await findCamera(deps, request.params.id, request.visibility);
    return reply.code(202).send(await setBaseline(camera, await read(request, camera.id), picture));
  });

  app.delete('/v1/cameras/:id/baseline', { schema: resetSchema, config }, async (request, reply) => {
    const camera = await findCamera(deps, request.params.id, request.visibility);
    return reply.code(202).send(await resetBaseline(camera, deps));
  });
}
