/** Routes that set up a camera and change its settings, and the test of an address that it may get. */
import { type Static, Type } from 'typebox';
import { invalidRequest, ScenedeltaError } from '../../base/errors.js';
import { isObject } from '../../base/is-object.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import { withPreset } from '../../camera/settings/presets.js';
import { refuseGone } from '../../camera/settings/settings.js';
import { checker } from '../../schemas/validation-error.js';
import { noCamera } from '../../stores/cameras/cameras.js';
import { withoutLogin } from '../cameras/login.js';
import { mergePatch } from '../cameras/merge-patch.js';
import { alertNotesOf, falseAlarmBudgetOf, findCamera, presentCamera } from '../cameras/present.js';
import { buildCamera, resetSettings } from '../cameras/put.js';
import type { Api } from '../dependencies.js';
import { assertCertificate, assertUrl, fetchRules } from '../intake/url-policy.js';
import { CAMERA_STRUCTURE } from '../json-structure.js';
import { MERGE_PATCH } from '../plugins/problems.js';
import { CameraIdParams, CameraPatchSchema, CamerasPatchSchema, SnapshotTestRequestSchema } from '../schemas/camera.js';
import type { Camera } from '../schemas/camera-answers.js';
import { BODY_PROBLEMS, json, PICTURE_PROBLEMS, problems, ref } from '../schemas/shared.js';
import type { RouteContext } from './context.js';

const tags = ['cameras'];
const ADDRESS_PROBLEMS = [...BODY_PROBLEMS, 'url-refused', 'invalid-value'] as const;
const SETTINGS_PROBLEMS = [...ADDRESS_PROBLEMS, 'not-found', ...PICTURE_PROBLEMS, 'storage-unavailable'] as const;

const putSchema = {
  operationId: 'putCamera',
  summary: 'Set up a camera, or change its settings',
  description:
    'The settings replace all earlier ones; omitted settings get their defaults. If privacy zones change, the ' +
    'previous frame, the reference and the background model are reset.',
  tags,
  params: CameraIdParams,
  body: { content: { 'application/json': { schema: ref('CameraRequest') } } },
  response: {
    200: json('The camera with its settings.', ref('Camera')),
    201: json('The camera is new.', ref('Camera')),
    ...problems(SETTINGS_PROBLEMS),
  },
};

const patchSchema = {
  operationId: 'changeCamera',
  summary: 'Change some settings of a camera',
  description:
    'A JSON merge patch (RFC 7396): only the settings that it names change, and null sets one to its default. A list, ' +
    'such as `zones`, is replaced as a whole.',
  tags,
  params: CameraIdParams,
  body: {
    content: Object.fromEntries(
      [MERGE_PATCH, 'application/json'].map((type) => [type, { schema: ref('CameraPatch') }]),
    ),
  },
  response: { 200: json('The camera with its settings.', ref('Camera')), ...problems(SETTINGS_PROBLEMS) },
};

const bulkSchema = {
  operationId: 'changeCameras',
  summary: 'Change some settings of several cameras',
  description: 'One merge patch for all of them. If one of them refuses it, or does not exist, none changes.',
  tags,
  body: { content: { 'application/json': { schema: ref('CamerasPatch') } } },
  response: {
    200: json('The cameras, in the order of the request.', Type.Object({ items: Type.Array(ref('Camera')) })),
    ...problems(SETTINGS_PROBLEMS),
  },
};

const testSchema = {
  operationId: 'testSnapshot',
  summary: 'Try an address for the snapshots of a camera',
  description:
    'Fetches one picture, as a snapshot does, and stores nothing. The camera need not exist. Without user name and ' +
    'password its stored login is used, if the address has the origin that the login was given for.',
  tags,
  params: CameraIdParams,
  body: { content: { 'application/json': { schema: ref('SnapshotTestRequest') } } },
  response: {
    200: json('The picture.', ref('SnapshotTest')),
    ...problems([
      ...([...ADDRESS_PROBLEMS, 'url-failed', 'url-unavailable', ...PICTURE_PROBLEMS] as const),
      ...(['processing-timeout', 'overloaded'] as const),
    ]),
  },
};
const checkTest = checker(SnapshotTestRequestSchema);
const checkPatch = checker(CameraPatchSchema);
// The settings that the patch leads to are checked for each camera.
const checkBulk = checker(
  Type.Object({ ...CamerasPatchSchema.properties, patch: Type.Object({}) }, { additionalProperties: false }),
);
/** Time beside the fetch itself: queueing, decoding, answering. */
const SLACK_MS = 5_000;

export function cameraSettingsRoutes(app: Api, deps: RouteContext): void {
  const { cameras, options } = deps;
  const { allow } = fetchRules(options);
  const config = { scope: 'admin', jsonStructure: CAMERA_STRUCTURE } as const;
  const building = { ...deps, ...options, allow };
  const schedule = ({ id, settings }: StoredCamera) =>
    deps.queue.scheduleSnapshots(id, settings.snapshot?.interval_s ?? null);

  const answerOf = async (camera: StoredCamera, request: { readonly isAdmin: boolean }): Promise<Camera> => ({
    ...presentCamera(camera, request),
    ...(await falseAlarmBudgetOf(camera, await cameras.state(camera.id), deps)),
    ...(await alertNotesOf(camera, deps)),
  });

  app.put('/v1/cameras/:id', { schema: putSchema, config }, async (request, reply) => {
    const { id } = request.params;
    const earlier = await cameras.get(id);
    const camera = await buildCamera(id, request.body, earlier, building);
    const created = await cameras.put(camera);
    await schedule(camera);
    const reset = earlier === undefined ? [] : resetSettings(request.body as object, earlier.settings, camera.settings);
    return reply.code(created ? 201 : 200).send({
      ...(await answerOf(camera, request)),
      ...(reset.length === 0 ? {} : { reset }),
    });
  });

  const patched = (id: string, earlier: StoredCamera, patch: unknown) =>
    buildCamera(id, settingsWith(earlier, patch), earlier, building).catch((thrown: unknown) => {
      if (!(thrown instanceof ScenedeltaError) || thrown.code !== 'invalid-request') throw thrown;
      checkPatch(patch);
      // The patch fits its schema, so that the settings it leads to lack something: an address without an interval.
      const { message, field } = thrown;
      throw new ScenedeltaError('invalid-value', message, field === undefined ? {} : { field });
    });
  const change = async (id: string, patch: unknown, request: { readonly isAdmin: boolean }) => {
    const camera = await cameras.alter(id, (earlier) => patched(id, earlier, patch));
    if (camera === undefined) throw noCamera(id);
    await schedule(camera);
    return answerOf(camera, request);
  };

  app.patch('/v1/cameras/:id', { schema: patchSchema, config: { ...config, mergePatch: true } }, async (request) =>
    change(request.params.id, request.body, request),
  );

  app.patch('/v1/cameras', { schema: bulkSchema, config }, async (request) => {
    const { cameras: ids, patch } = checkBulk(request.body) as Static<typeof CamerasPatchSchema>;
    // All are tried before the first one changes.
    for (const id of ids) await patched(id, await findCamera(deps, id, request.visibility), patch);
    const items: Camera[] = [];
    for (const id of ids) items.push(await change(id, patch, request));
    return { items };
  });

  app.post('/v1/cameras/:id/test-snapshot', { schema: testSchema, config: { scope: 'admin' } }, async (request) => {
    const { id } = request.params;
    const given = checkTest(request.body) as Static<typeof SnapshotTestRequestSchema>;
    const { settings, login } = withoutLogin(
      id,
      { snapshot: { ...given, interval_s: 1 } },
      await cameras.get(id),
      deps.loginKey,
    );
    const { url, certificate = null } = settings.snapshot;
    assertUrl(url, 'url', allow, { rtsp: true });
    assertCertificate(certificate, 'certificate');
    return deps.questions.ask(
      { kind: 'snapshot', camera: id, url, certificate, ...(login === undefined ? {} : { login }) },
      options.outboundTimeoutMs + SLACK_MS,
    );
  });
}

/** @throws ScenedeltaError 'invalid-request' if the patch is no object, or names a setting that is gone */
function settingsWith({ settings }: StoredCamera, patch: unknown): unknown {
  if (!isObject(patch)) {
    throw invalidRequest('The request is no merge patch, expected a JSON object');
  }
  refuseGone(patch);
  const { reference, snapshot } = patch as { reference?: unknown; snapshot?: unknown };
  const merged = mergePatch(settings, withPreset(patch)) as { snapshot?: object };
  // Both are no part of the stored settings, so that their removal would be no change.
  const isSignedOut = isObject(snapshot) && 'username' in snapshot && snapshot.username === null;
  return {
    ...merged,
    ...(reference === null ? { reference } : {}),
    ...(isSignedOut ? { snapshot: { ...merged.snapshot, username: '' } } : {}),
  };
}
