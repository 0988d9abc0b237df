/** Route that pulls a frame of a camera on a signal from outside: a door contact, a motion sensor, another system. */
import { Type } from 'typebox';
import { invalidValue } from '../../base/errors.js';
import { assertCameraCapacity } from '../cameras/accept.js';
import { findCamera } from '../cameras/present.js';
import type { Api } from '../dependencies.js';
import { parsePrefer } from '../intake/wait.js';
import { CameraIdParams } from '../schemas/camera.js';
import { comparisonResponses, PREFERENCE_HEADERS } from '../schemas/comparison-responses.js';
import type { RouteContext } from './context.js';

/** Time beside the fetch itself: queueing, storing, answering. */
const SLACK_MS = 5_000;

export function cameraSnapshotRoutes(app: Api, deps: RouteContext): void {
  const { options } = deps;
  const schema = {
    operationId: 'createCameraSnapshot',
    summary: 'Pull a frame of a camera now, and compare it',
    description:
      'For a signal from outside, such as a door contact: a worker fetches a frame from the `snapshot` address of the ' +
      'camera, beside its schedule. The answer is that of a posted frame.',
    tags: ['cameras'],
    params: CameraIdParams,
    headers: Type.Pick(PREFERENCE_HEADERS, ['Prefer']),
    response: comparisonResponses(['not-found']),
  };
  app.post('/v1/cameras/:id/snapshot', { schema, config: { scope: 'compare' } }, async (request, reply) => {
    const { id, settings } = await findCamera(deps, request.params.id, request.visibility);
    if (settings.snapshot === null) {
      throw invalidValue(`${id} has no snapshot address, expected one in its settings`, 'snapshot');
    }
    await assertCameraCapacity(id, deps);
    const { waitSeconds, applied } = parsePrefer(request.headers.prefer as string | undefined, options.waitLimit);
    if (applied !== undefined) reply.header('Preference-Applied', applied);
    const comparison = await deps.questions.ask({ kind: 'pull', camera: id }, options.outboundTimeoutMs + SLACK_MS);
    return deps.answerOutcome(reply, { id: comparison, waitSeconds });
  });
}
