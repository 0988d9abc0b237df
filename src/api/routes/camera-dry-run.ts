/** Route of the dry run of a camera's settings over its recent frames. */
import { Type } from 'typebox';
import { DAY_MS } from '../../base/clock.js';
import { invalidRequest } from '../../base/errors.js';
import { isObject } from '../../base/is-object.js';
import { checkSettings } from '../../camera/settings/settings.js';
import { roundFigures } from '../../schemas/rounding.js';
import { findCamera } from '../cameras/present.js';
import type { Api } from '../dependencies.js';
import { operatingPointsOf } from '../intake/models.js';
import { CAMERA_STRUCTURE } from '../json-structure.js';
import { CameraIdParams } from '../schemas/camera.js';
import { parsePageQuery, timeQuery } from '../schemas/pages.js';
import { BODY_PROBLEMS, json, problems, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const schema = {
  operationId: 'dryRunCamera',
  summary: 'The alerts that other settings would have caused',
  description:
    'Replays the kept comparisons of the camera (default: of the last 24 hours) under these settings, which are not ' +
    'stored. No frame is compared again: `limits` says what is unknown.',
  tags: ['cameras'],
  params: CameraIdParams,
  querystring: Type.Object(timeQuery('Frames that arrived'), { additionalProperties: false }),
  body: { content: { 'application/json': { schema: ref('CameraRequest') } } },
  response: {
    200: json('The alerts.', ref('CameraDryRun')),
    ...problems(['not-found', ...BODY_PROBLEMS, 'invalid-value']),
  },
};

export function cameraDryRunRoutes(app: Api, deps: RouteContext): void {
  const config = { scope: 'admin', jsonStructure: CAMERA_STRUCTURE } as const;
  app.post('/v1/cameras/:id/dry-run', { schema, config }, async (request) => {
    const camera = await findCamera(deps, request.params.id, request.visibility);
    const { body } = request;
    if (!isObject(body)) {
      throw invalidRequest('The request has no settings, expected a JSON object');
    }
    const { reference: _reference, ...rest } = body as Record<string, unknown>;
    const settings = checkSettings(rest);
    const { since = deps.clock() - DAY_MS, until = Number.MAX_SAFE_INTEGER } = parsePageQuery(request.query);
    // Loaded with the first dry run, as the fold of frames that it needs.
    const { dryRunCamera } = await import('../cameras/dry-run.js');
    const points = await operatingPointsOf(settings.model, deps.workers);
    return roundFigures(await dryRunCamera(camera, settings, { results: deps.results, points, since, until }));
  });
}
