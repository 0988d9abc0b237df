/** Routes of cameras: their settings, and their frames. */
import { Type } from 'typebox';
import { describeBudget } from '../../cameras/alarm-budget.js';
import type { StoredCamera } from '../../cameras/camera.js';
import { CAMERA_ID_PATTERN } from '../../cameras/id-pattern.js';
import type { CameraSettings } from '../../cameras/settings.js';
import { pendingChanges } from '../../changes/pending.js';
import { rulesOf } from '../../changes/rules.js';
import { ScenedeltaError } from '../../errors.js';
import type { FrameKeeper } from '../../frames/keep.js';
import { IMAGE_TYPES } from '../../image-type.js';
import { originAndPath } from '../../redact-url.js';
import type { CameraState } from '../../sequence/state.js';
import { noCamera } from '../../stores/cameras.js';
import { seesCamera, type Visibility } from '../../stores/visibility.js';
import { acceptFrame, assertCameraCapacity, frameFingerprint } from '../cameras/accept.js';
import { buildCamera } from '../cameras/put.js';
import { resetSettings } from '../cameras/reset-settings.js';
import { eraseComparisonsOf } from '../comparisons/erase.js';
import type { Api, ApiDependencies, ApiOptions } from '../dependencies.js';
import { assertCapacity } from '../intake/capacity.js';
import { operatingPointsOf } from '../intake/models.js';
import { readCameraFrame } from '../intake/request.js';
import type { Respond } from '../intake/respond.js';
import { assertFetchable, assertUrl, fetchRules } from '../intake/url-policy.js';
import { CAMERA_STRUCTURE } from '../json-structure.js';
import {
  type Camera,
  CameraFrameFormSchema,
  CameraFrameQuery,
  CameraFrameRequestSchema,
  CameraIdParams,
  CameraRequestSchema,
  CameraSchema,
} from '../schemas/camera.js';
import { binary } from '../schemas/comparison-request.js';
import { comparisonResponses, PREFERENCE_HEADERS } from '../schemas/comparison-responses.js';
import { pageBody, pageQuery, pageResponses, parsePageQuery } from '../schemas/pages.js';
import { json, problems, ref } from '../schemas/shared.js';

const tags = ['cameras'];
const ADDRESSES =
  'A key without the scope `admin` gets the addresses of snapshots and callbacks without their query, ' +
  'which may contain a token.';

const putSchema = {
  operationId: 'putCamera',
  summary: 'Set up a camera, or change its settings',
  description:
    'The settings replace the earlier ones as a whole; omitted settings get their defaults. The state ' +
    'of the camera stays, unless its privacy zones change: then its previous frame, its reference and ' +
    'its background model are reset.',
  tags,
  params: CameraIdParams,
  body: { content: { 'application/json': { schema: ref(CameraRequestSchema) } } },
  response: {
    200: json('The camera with its settings.', ref(CameraSchema)),
    201: json('The camera is new.', ref(CameraSchema)),
    ...problems([
      'malformed-body',
      'not-found',
      'payload-too-large',
      'unsupported-media-type',
      'image-unreadable',
      'image-too-large',
      'image-too-small',
      'url-refused',
      'invalid-value',
      'storage-unavailable',
    ]),
  },
};

const frameSchema = {
  operationId: 'createCameraFrame',
  summary: 'Compare one frame with the "before" of this camera',
  description:
    'As POST /v1/comparisons, with the "before" of the camera. Frames of a camera are processed one at ' +
    'a time, in the order of `captured_at`; `camera_frame` of the answer describes the other side of ' +
    'the comparison and any unusual circumstances. The body may also be the image itself, with its type as ' +
    '`Content-Type`.',
  tags,
  params: CameraIdParams,
  querystring: CameraFrameQuery,
  headers: PREFERENCE_HEADERS,
  body: {
    content: {
      'multipart/form-data': { schema: ref(CameraFrameFormSchema) },
      'application/json': { schema: ref(CameraFrameRequestSchema) },
      ...Object.fromEntries(IMAGE_TYPES.map((type) => [type, { schema: binary('The image.') }])),
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

  const alarmBudgetOf = async ({ settings }: StoredCamera, state: CameraState | undefined) => {
    const { alarms_per_day } = settings;
    if (alarms_per_day === null) return {};
    const points = await operatingPointsOf(settings.model, deps.workers);
    const history = state ?? { intervalMs: null };
    return { alarm_budget: describeBudget({ ...settings, alarms_per_day }, history, points) };
  };

  const putConfig = { scope: 'admin', jsonStructure: CAMERA_STRUCTURE } as const;
  app.put('/v1/cameras/:id', { schema: putSchema, config: putConfig }, async (request, reply) => {
    const { id } = request.params;
    const earlier = await cameras.get(id);
    const camera = await buildCamera(id, request.body, earlier, { ...deps, ...options, keeper, allow });
    const created = await cameras.put(camera);
    await deps.queue.scheduleSnapshots(id, camera.settings.snapshot?.interval_s ?? null);
    const reset = earlier === undefined ? [] : resetSettings(request.body as object, earlier.settings, camera.settings);
    const state = created ? undefined : await cameras.state(id);
    return reply.code(created ? 201 : 200).send({
      ...presentCamera(camera, request),
      ...(await alarmBudgetOf(camera, state)),
      ...(reset.length === 0 ? {} : { reset }),
    });
  });

  app.post(
    '/v1/cameras/:id/frames',
    { schema: frameSchema, config: { scope: 'compare', imageBody: true } },
    async (request, reply) => {
      await assertCapacity(request, 'frame', deps, options);
      const camera = await findCamera(deps, request.params.id, request.visibility);
      await assertCameraCapacity(camera.id, deps);
      const incoming = await readCameraFrame(request, options, request.query.captured_at);
      const { callback_url } = incoming.options;
      assertFetchable({ frame: incoming.frame }, rules);
      if (callback_url !== undefined) assertUrl(callback_url, 'callback_url', allow);
      return respond(request, reply, {
        fingerprint: frameFingerprint(camera.id, incoming),
        frames: [incoming.frame],
        queue: 'live',
        accept: (context) => acceptFrame(context, camera, incoming, { ...deps, keeper, options }),
      });
    },
  );

  const getSchema = {
    operationId: 'readCamera',
    summary: 'Read a camera and its status',
    description: ADDRESSES,
    tags,
    params: CameraIdParams,
    response: { 200: json('The camera.', ref(CameraSchema)), ...problems(['not-found']) },
  };
  app.get('/v1/cameras/:id', { schema: getSchema, config: { scope: 'compare' } }, async (request) => {
    const { id } = request.params;
    const camera = await findCamera(deps, id, request.visibility);
    const [state, waiting, snapshot] = await Promise.all([
      cameras.state(id),
      cameras.waitingFrames(id),
      cameras.snapshot(id),
    ]);
    const last = state?.last ?? null;
    return {
      ...presentCamera(camera, request),
      ...(await alarmBudgetOf(camera, state)),
      status: {
        frames: state?.frames ?? 0,
        waiting,
        pending: state === undefined ? [] : pendingChanges(state.tracker, rulesOf(id, camera.settings)),
        last_frame_at: last === null ? null : new Date(last.at).toISOString(),
        frozen_since: state?.still?.reported === true ? new Date(state.still.since).toISOString() : null,
        interval_s: state?.intervalMs == null ? null : state.intervalMs / 1000,
        light: camera.settings.before === 'memory' ? (state?.light ?? null) : null,
        memory: Object.keys(state?.backgrounds ?? {}) as (keyof NonNullable<typeof state>['backgrounds'])[],
        threshold: state?.budgetThreshold?.threshold ?? null,
        false_alarms_per_day: state?.budgetThreshold?.alarms_per_day ?? null,
        snapshot: snapshot ?? null,
        snapshot_login: camera.login !== undefined,
      },
    };
  });

  const listSchema = {
    operationId: 'listCameras',
    summary: 'List cameras by id',
    description: ADDRESSES,
    tags,
    // The cursor is the id of the last camera of the previous page.
    querystring: Type.Object(pageQuery(CAMERA_ID_PATTERN), { additionalProperties: false }),
    response: pageResponses(CameraSchema),
  };
  app.get('/v1/cameras', { schema: listSchema, config: { scope: 'compare' } }, async (request, reply) => {
    const query = { ...parsePageQuery(request.query), visibility: request.visibility };
    const { items, nextCursor } = await cameras.list(query);
    return pageBody(request, reply, {
      items: items.map((camera) => presentCamera(camera, request)),
      nextCursor,
    });
  });

  const deleteSchema = {
    operationId: 'eraseCamera',
    summary: 'Erase a camera and all its data',
    description:
      'Erases its settings and state, all comparisons that name it, their heatmaps, its changes and ' +
      'their alerts, pending deliveries included, and their events. After the answer none of it can be read. If the ' +
      'request was interrupted, send it again to complete the erasure. The bytes of its frames are deleted ' +
      'within ten minutes, unless other comparisons or cameras have the same frames.',
    tags,
    params: CameraIdParams,
    response: {
      204: { description: 'Erased.', type: 'null' },
      ...problems(['not-found', 'storage-unavailable']),
    },
  };
  app.delete('/v1/cameras/:id', { schema: deleteSchema, config: { scope: 'admin' } }, async (request, reply) => {
    const { id } = request.params;
    await deps.frameUses.leave(await deps.frameUses.ofCamera(id), deps.clock());
    // The camera before its data, so that a running turn cannot save and no frame is accepted.
    const existed = await cameras.erase(id);
    await deps.queue.scheduleSnapshots(id, null);
    const comparisons = await eraseComparisonsOf(id, deps);
    const changes = await deps.changes.eraseOf(id);
    if (!existed && comparisons + changes === 0) throw noCamera(id);
    return reply.code(204).send();
  });
}

const presentCamera = (
  { id, settings, reference, created_at, updated_at }: StoredCamera,
  { isAdmin }: { readonly isAdmin: boolean },
): Camera => ({
  id,
  ...(isAdmin ? settings : withoutTokens(settings)),
  reference: reference === null ? null : { sha256: reference.sha256 },
  created_at,
  updated_at,
});

/** Removes the queries of addresses, which may contain tokens, for keys without the scope admin. */
const withoutTokens = (settings: CameraSettings): CameraSettings => ({
  ...settings,
  snapshot: settings.snapshot && { ...settings.snapshot, url: originAndPath(settings.snapshot.url) },
  alerts: {
    ...settings.alerts,
    callback_url: settings.alerts.callback_url && originAndPath(settings.alerts.callback_url),
  },
});

/** @throws ScenedeltaError 'not-found' */
export async function findCamera(
  deps: Pick<ApiDependencies, 'cameras'>,
  id: string,
  visibility: Visibility,
): Promise<StoredCamera> {
  const camera = seesCamera(visibility, id) ? await deps.cameras.get(id) : undefined;
  if (camera !== undefined) return camera;
  // The text is the same for a camera that does not exist and for one of another key.
  throw visibility === 'everything' ? noCamera(id) : notOfKey(id, visibility);
}

const notOfKey = (id: string, visibility: Exclude<Visibility, 'everything'>) =>
  new ScenedeltaError(
    'not-found',
    `There is no camera ${id} among those of this key (${visibility.cameras.join(', ') || 'none'}): ` +
      `PUT /v1/cameras/${id} sets one up, and \`scenedelta keys create --cameras\` lets a key use it`,
  );
