/** Routes of cameras: their frames, their status, their list, and their erasure. */
import { Type } from 'typebox';
import { IMAGE_TYPES } from '../../base/image-type.js';
import { pendingChanges } from '../../camera/changes/pending.js';
import { rulesOf } from '../../camera/changes/rules.js';
import { traced } from '../../process/tracing.js';
import { literals } from '../../schemas/constructors.js';
import { noCamera } from '../../stores/cameras/cameras.js';
import { acceptFrame, assertCameraCapacity } from '../cameras/accept.js';
import { labelQuery } from '../cameras/labelled.js';
import { cameraPage, lensOf, overviewsOf } from '../cameras/overview.js';
import { falseAlarmBudgetOf, findCamera, presentCamera } from '../cameras/present.js';
import { eraseComparisonsOf } from '../comparisons/erase.js';
import type { Api } from '../dependencies.js';
import { acceptOnce } from '../intake/accept-once.js';
import { assertCapacity } from '../intake/capacity.js';
import { fingerprintOf } from '../intake/idempotency.js';
import { readCameraFrame } from '../intake/request.js';
import { contextOf, countAccepted } from '../intake/respond.js';
import { assertFetchable, assertUrl, fetchRules } from '../intake/url-policy.js';
import { inSpan } from '../plugins/tracing.js';
import { CameraFrameQuery, CameraIdParams } from '../schemas/camera.js';
import { binary } from '../schemas/comparison-request.js';
import { comparisonResponses, PREFERENCE_HEADERS } from '../schemas/comparison-responses.js';
import { pageBody, pageQuery, pageResponses, parsePageQuery } from '../schemas/pages.js';
import { json, problems, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const tags = ['cameras'];
const ADDRESSES = 'A key without the scope `admin` gets addresses without their query, which may contain a token.';

const frameSchema = {
  operationId: 'createCameraFrame',
  summary: 'Compare one frame with the "before" of this camera',
  description:
    'As POST /v1/comparisons, with the "before" of the camera. Frames of a camera are processed one at ' +
    'a time, in the order of `captured_at`; `camera_frame` of the answer describes the other side of ' +
    'the comparison and any unusual circumstances. The body may also be the image itself, with its type or ' +
    '`application/octet-stream` as `Content-Type`: its bytes decide.',
  tags,
  params: CameraIdParams,
  querystring: CameraFrameQuery,
  headers: PREFERENCE_HEADERS,
  body: {
    content: {
      'multipart/form-data': { schema: ref('CameraFrameForm') },
      'application/json': { schema: ref('CameraFrameRequest') },
      ...Object.fromEntries(
        [...IMAGE_TYPES, 'application/octet-stream'].map((type) => [type, { schema: binary('The image.') }]),
      ),
    },
  },
  response: comparisonResponses(['not-found', 'frame-out-of-order']),
};

export function cameraRoutes(app: Api, deps: RouteContext): void {
  const { cameras, options } = deps;
  const rules = fetchRules(options);
  const { allow } = rules;

  app.post(
    '/v1/cameras/:id/frames',
    { schema: frameSchema, config: { scope: 'compare', imageBody: true } },
    (request, reply) =>
      inSpan(request, reply, deps.clock, async (traceparent) => {
        await assertCapacity(request, 'frame', deps, options);
        const camera = await findCamera(deps, request.params.id, request.visibility);
        await assertCameraCapacity(camera.id, deps);
        const incoming = await readCameraFrame(request, options, request.query.captured_at);
        const { callback_url } = incoming.options;
        assertFetchable({ frame: incoming.frame }, rules);
        if (callback_url !== undefined) assertUrl(callback_url, 'callback_url', allow);
        const context = contextOf(request, reply, deps, traceparent);
        const comparison = await acceptOnce(request, reply, deps.idempotency, {
          fingerprint: fingerprintOf(`POST /v1/cameras/${camera.id}/frames`, [incoming.frame], incoming.options),
          id: context.comparisonId,
          accept: () => traced('accept', () => acceptFrame(context, camera, incoming, deps)),
        });
        if (comparison.accepted) countAccepted(deps.metrics, request, 'live', [incoming.frame]);
        return deps.answerOutcome(reply, { ...comparison, waitSeconds: context.waitSeconds });
      }),
  );

  const getSchema = {
    operationId: 'readCamera',
    summary: 'Read a camera and its status',
    description: ADDRESSES,
    tags,
    params: CameraIdParams,
    response: { 200: json('The camera.', ref('Camera')), ...problems(['not-found']) },
  };
  app.get('/v1/cameras/:id', { schema: getSchema, config: { scope: 'read' } }, async (request) => {
    const { id } = request.params;
    const camera = await findCamera(deps, id, request.visibility);
    const [state, waiting, snapshot, failure] = await Promise.all([
      cameras.state(id),
      cameras.waitingFrames(id),
      cameras.snapshot(id),
      cameras.failure(id),
    ]);
    const last = state?.last ?? null;
    const [overview] = await overviewsOf([{ state, snapshot, failure }], deps.results, deps.clock(), request.locale);
    // By the present settings; the threshold in the state is that of the last frame.
    const budget = await falseAlarmBudgetOf(camera, state, deps);
    return {
      ...presentCamera(camera, request),
      overview,
      ...budget,
      status: {
        frames: state?.frames ?? 0,
        waiting,
        pending: state === undefined ? [] : pendingChanges(state.tracker, rulesOf(id, camera.settings)),
        last_frame_at: last === null ? null : new Date(last.at).toISOString(),
        frozen_since: state?.still?.stuck === true ? new Date(state.still.since).toISOString() : null,
        signal_lost_since: state?.signal?.reported === true ? new Date(state.signal.since).toISOString() : null,
        lens: lensOf(state),
        interval_s: state?.intervalMs == null ? null : state.intervalMs / 1000,
        light: camera.settings.before === 'memory' ? (state?.light ?? null) : null,
        memory: Object.keys(state?.backgrounds ?? {}) as (keyof NonNullable<typeof state>['backgrounds'])[],
        threshold: budget.false_alarm_budget?.threshold ?? null,
        false_alarms_per_day: budget.false_alarm_budget?.false_alarms_per_day ?? null,
        snapshot: snapshot ?? null,
        snapshot_login: camera.login !== undefined,
      },
    };
  });

  const listSchema = {
    operationId: 'listCameras',
    summary: 'List and search cameras',
    description: `${ADDRESSES} A list by state reads all cameras for each page.`,
    tags,
    querystring: Type.Object(
      {
        // The id of the last camera of the previous page, by state with its rank before it.
        ...pageQuery('^[A-Za-z0-9][A-Za-z0-9._-]{0,65}$'),
        q: Type.Optional(Type.String({ maxLength: 128, description: 'Part of the id or the name.' })),
        ...labelQuery,
        sort: Type.Optional(
          literals(['id', 'state'], {
            default: 'id',
            description: 'state: problems first, then cameras without a frame.',
          }),
        ),
        overview: Type.Optional(
          literals(['true', 'false'], {
            default: 'false',
            description: 'Adds `overview`, which `q`, `label` and a list by state always add.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
    response: pageResponses('Camera'),
  };
  app.get('/v1/cameras', { schema: listSchema, config: { scope: 'read' } }, async (request, reply) => {
    const { q = '', label, sort = 'id', overview = 'false', cursor, limit } = parsePageQuery(request.query);
    const { visibility } = request;
    if (q === '' && label === undefined && sort === 'id' && overview === 'false') {
      const { items, nextCursor } = await cameras.list({
        limit,
        visibility,
        ...(cursor === undefined ? {} : { cursor }),
      });
      return pageBody(request, reply, { items: items.map((camera) => presentCamera(camera, request)), nextCursor });
    }
    const query = { q, label, sort, cursor, limit };
    const page = await cameraPage(await cameras.records(visibility), query, deps.results, deps.clock(), request.locale);
    return pageBody(request, reply, {
      items: page.items.map((one) => ({ ...presentCamera(one.camera, request), overview: one.overview })),
      nextCursor: page.nextCursor,
    });
  });

  const deleteSchema = {
    operationId: 'eraseCamera',
    summary: 'Erase a camera and all its data',
    description:
      'Erases its settings and state, all comparisons that name it, their heatmaps, its changes and visits, ' +
      'their alerts, pending deliveries included, and their events. After the answer none of it can be read. If the ' +
      'request was interrupted, send it again to complete the erasure. The bytes of its frames are deleted ' +
      'within ten minutes, unless other comparisons or cameras have the same frames.',
    tags,
    params: CameraIdParams,
    response: { 204: { description: 'Erased.', type: 'null' }, ...problems(['not-found', 'storage-unavailable']) },
  };
  app.delete('/v1/cameras/:id', { schema: deleteSchema, config: { scope: 'admin' } }, async (request, reply) => {
    const { id } = request.params;
    await deps.frameUses.leave(await deps.frameUses.ofCamera(id), deps.clock());
    // The camera before its data, so that a running turn cannot save and no frame is accepted.
    const existed = await cameras.erase(id);
    await deps.queue.scheduleSnapshots(id, null);
    const comparisons = await eraseComparisonsOf(id, deps);
    const changes = await deps.changes.eraseOf(id);
    const visits = await deps.visits.eraseOf(id);
    if (!existed && comparisons + changes + visits === 0) throw noCamera(id);
    return reply.code(204).send();
  });
}
