/** Cameras: settings, and one frame at a time. */
import { Type } from 'typebox';
import type { CameraSettings } from '../../cameras/settings.js';
import type { FrameKeeper } from '../../frames/keep.js';
import { originAndPath } from '../../redact-url.js';
import { noCamera, type StoredCamera } from '../../stores/cameras.js';
import { acceptFrame, assertCameraCapacity, frameFingerprint } from '../cameras/accept.js';
import { buildCamera } from '../cameras/put.js';
import { assertCapacity } from '../comparisons/accept.js';
import { eraseComparisonsOf } from '../comparisons/erase.js';
import { readCameraFrame } from '../comparisons/request.js';
import type { Respond } from '../comparisons/respond.js';
import { assertFetchable, assertUrl, fetchRules } from '../comparisons/url-policy.js';
import type { Api, ApiDependencies, ApiOptions } from '../dependencies.js';
import {
  type Camera,
  CameraFrameFormSchema,
  CameraFrameRequestSchema,
  CameraIdParams,
  CameraRequestSchema,
  CameraSchema,
} from '../schemas/camera.js';
import { comparisonResponses, PREFERENCE_HEADERS } from '../schemas/comparison-responses.js';
import { pageBody, pageQuery, pageResponses, parsePageQuery } from '../schemas/pages.js';
import { json, problems, ref } from '../schemas/shared.js';

const tags = ['cameras'];
const ADDRESSES =
  'A key without the scope `admin` sees the addresses of snapshots and callbacks without their query, which may hold a token.';

const putSchema = {
  operationId: 'putCamera',
  summary: 'Set up a camera, or change its settings',
  description:
    'The settings replace the earlier ones as a whole; what is left out has its default. What the camera has learned stays, unless its privacy zones change: then the frames and the memory it compares with begin anew.',
  tags,
  params: CameraIdParams,
  body: { content: { 'application/json': { schema: ref(CameraRequestSchema) } } },
  response: {
    200: json('The camera with its settings.', ref(CameraSchema)),
    201: json('The camera is new.', ref(CameraSchema)),
    ...problems([
      'malformed-body',
      'payload-too-large',
      'unsupported-media-type',
      'image-unreadable',
      'image-too-large',
      'url-refused',
      'storage-unavailable',
    ]),
  },
};

const frameSchema = {
  operationId: 'createCameraFrame',
  summary: 'Compare one frame with what is "before" for this camera',
  description:
    'As POST /v1/comparisons, with the camera\'s own "before". Frames of a camera are worked on one at a time, in the order of `captured_at`; `camera_frame` of the answer says what the frame was compared with, and what was out of the ordinary about it.',
  tags,
  params: CameraIdParams,
  headers: PREFERENCE_HEADERS,
  body: {
    content: {
      'multipart/form-data': { schema: ref(CameraFrameFormSchema) },
      'application/json': { schema: ref(CameraFrameRequestSchema) },
    },
  },
  response: comparisonResponses(['not-found', 'frame-out-of-order']),
};

export interface CameraRoutesContext {
  readonly deps: ApiDependencies;
  readonly options: ApiOptions;
  readonly keeper: FrameKeeper;
  readonly respond: Respond;
}

export function cameraRoutes(app: Api, { deps, options, keeper, respond }: CameraRoutesContext): void {
  const { cameras } = deps;
  const rules = fetchRules(options);
  const { allow } = rules;

  app.put('/v1/cameras/:id', { schema: putSchema, config: { scope: 'admin' } }, async (request, reply) => {
    const { id } = request.params;
    const earlier = await cameras.get(id);
    const camera = await buildCamera(id, request.body, earlier, { ...deps, ...options, keeper, allow });
    const created = await cameras.put(camera);
    await deps.queue.scheduleSnapshots(id, camera.settings.snapshot?.interval_s ?? null);
    return reply.code(created ? 201 : 200).send(presented(camera, request));
  });

  app.post(
    '/v1/cameras/:id/frames',
    { schema: frameSchema, config: { scope: 'compare' } },
    async (request, reply) => {
      await assertCapacity(deps, options);
      const camera = await findCamera(deps, request.params.id);
      await assertCameraCapacity(camera.id, deps);
      const incoming = await readCameraFrame(request, options);
      const { callback_url } = incoming.options;
      assertFetchable({ frame: incoming.frame }, rules);
      if (callback_url !== undefined) assertUrl(callback_url, 'callback_url', allow);
      return respond(request, reply, {
        fingerprint: frameFingerprint(camera.id, incoming),
        frames: [incoming.frame],
        queue: 'live',
        accept: (asked) => acceptFrame(asked, camera, incoming, { ...deps, keeper, options }),
      });
    },
  );

  const getSchema = {
    operationId: 'readCamera',
    summary: 'Read a camera and how it stands',
    description: ADDRESSES,
    tags,
    params: CameraIdParams,
    response: { 200: json('The camera.', ref(CameraSchema)), ...problems(['not-found']) },
  };
  app.get('/v1/cameras/:id', { schema: getSchema, config: { scope: 'compare' } }, async (request) => {
    const { id } = request.params;
    const camera = await findCamera(deps, id);
    const [state, waiting, snapshot] = await Promise.all([
      cameras.state(id),
      cameras.waitingFrames(id),
      cameras.snapshot(id),
    ]);
    const last = state?.last ?? null;
    return {
      ...presented(camera, request),
      status: {
        frames: state?.frames ?? 0,
        waiting,
        last_frame_at: last === null ? null : new Date(last.at).toISOString(),
        interval_s: state?.intervalMs == null ? null : state.intervalMs / 1000,
        light: camera.settings.before === 'memory' ? (state?.light ?? null) : null,
        memory: Object.keys(state?.memory ?? {}) as (keyof NonNullable<typeof state>['memory'])[],
        threshold: state?.dial?.threshold ?? null,
        false_alarms_per_day: state?.dial?.alarms_per_day ?? null,
        snapshot: snapshot ?? null,
      },
    };
  });

  const listSchema = {
    operationId: 'listCameras',
    summary: 'List cameras by id',
    description: ADDRESSES,
    tags,
    // its cursor is the id of the camera before
    querystring: Type.Object(pageQuery(64), { additionalProperties: false }),
    response: pageResponses(CameraSchema),
  };
  app.get('/v1/cameras', { schema: listSchema, config: { scope: 'compare' } }, async (request, reply) => {
    const { cursor, limit } = parsePageQuery(request.query);
    const found = await cameras.list({
      ...(cursor === undefined ? {} : { after: cursor }),
      limit: limit + 1,
    });
    const items = found.slice(0, limit);
    const nextCursor = found.length > limit ? (items.at(-1)?.id ?? null) : null;
    return pageBody(request, reply, { items: items.map((camera) => presented(camera, request)), nextCursor });
  });

  const deleteSchema = {
    operationId: 'eraseCamera',
    summary: 'Erase a camera and everything of it',
    description:
      'Its settings, what it has learned, all comparisons that name it, their heatmaps, its changes and their alerts, also those that wait to be delivered. Once this is answered nothing of it can be found; where it was interrupted, it goes on when it is sent again. The bytes of frames are kept by content and go with the retention of frames (FRAME_RETENTION_HOURS).',
    tags,
    params: CameraIdParams,
    response: {
      204: { description: 'Erased.', type: 'null' },
      ...problems(['not-found', 'storage-unavailable']),
    },
  };
  app.delete(
    '/v1/cameras/:id',
    { schema: deleteSchema, config: { scope: 'admin' } },
    async (request, reply) => {
      const { id } = request.params;
      // First what makes more: the turn under way can save nothing now, and no frame is accepted.
      const existed = await cameras.erase(id);
      await deps.queue.scheduleSnapshots(id, null);
      const comparisons = await eraseComparisonsOf(id, deps);
      const changes = await deps.changes.eraseOf(id);
      if (!existed && comparisons + changes === 0) throw noCamera(id);
      return reply.code(204).send();
    },
  );
}

const presented = (
  { id, settings, reference, created_at, updated_at }: StoredCamera,
  { isAdmin }: { readonly isAdmin: boolean },
): Camera => ({
  id,
  ...(isAdmin ? settings : withoutTokens(settings)),
  reference: reference === null ? null : { sha256: reference.sha256 },
  created_at,
  updated_at,
});

/** Who may only compare sees where a camera and its receiver are, not what opens them. */
const withoutTokens = (settings: CameraSettings): CameraSettings => ({
  ...settings,
  snapshot: settings.snapshot && { ...settings.snapshot, url: originAndPath(settings.snapshot.url) },
  alerts: {
    ...settings.alerts,
    callback_url: settings.alerts.callback_url && originAndPath(settings.alerts.callback_url),
  },
});

/** @throws ScenedeltaError 'not-found' */
async function findCamera(deps: Pick<ApiDependencies, 'cameras'>, id: string): Promise<StoredCamera> {
  const camera = await deps.cameras.get(id);
  if (camera === undefined) throw noCamera(id);
  return camera;
}
