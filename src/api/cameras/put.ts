/** Builder of the stored camera from the settings of a request. */
import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import { invalidRequest, invalidValue } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import { isObject } from '../../base/is-object.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import { checkSettings, type Zone } from '../../camera/settings/settings.js';
import type { AllowList } from '../../outbound/address.js';
import type { StoredFrameRef } from '../../schemas/frame-ref.js';
import { checker } from '../../schemas/validation-error.js';
import { assertCertificate, assertUrl } from '../intake/url-policy.js';
import { parseTime } from '../parse-time.js';
import { type CameraRequest, CameraRequestSchema } from '../schemas/camera.js';
import { withoutLogin } from './login.js';
import { keepPicture, type PictureDependencies, readPicture } from './picture.js';

const { reference: referenceSchema } = (CameraRequestSchema as unknown as { properties: { reference: never } })
  .properties;
const checkReference = checker(Type.Object({ reference: referenceSchema }));

interface PutDependencies extends PictureDependencies {
  readonly clock: () => number;
  readonly allow: AllowList;
  readonly loginKey: Buffer;
}

/**
 * @param earlier the camera before this request, undefined if it is new
 * @throws ScenedeltaError invalid-request if the body is no object; invalid-request, invalid-value, url-refused,
 *   image-unreadable, image-too-large, image-too-small, payload-too-large, each naming the field; storage-unavailable
 */
export async function buildCamera(
  id: string,
  body: unknown,
  earlier: StoredCamera | undefined,
  deps: PutDependencies,
): Promise<StoredCamera> {
  if (!isObject(body)) {
    throw invalidRequest('The request has no settings, expected a JSON object');
  }
  const { reference, ...rest } = body as Record<string, unknown>;
  checkReference({ reference });
  const checked = checkSettings(rest);
  const { settings, login } = withoutLogin(id, checked, earlier, deps.loginKey);
  const { callback_url } = settings.alerts;
  if (settings.suspend_until !== null) parseTime(settings.suspend_until, 'suspend_until');
  if (callback_url !== null) assertUrl(callback_url, 'alerts/callback_url', deps.allow);
  if (settings.snapshot !== null) {
    assertUrl(settings.snapshot.url, 'snapshot/url', deps.allow, { rtsp: true });
    assertCertificate(settings.snapshot.certificate ?? null, 'snapshot/certificate');
  }

  const now = new Date(deps.clock()).toISOString();
  const camera: StoredCamera = {
    id,
    settings,
    reference: null,
    mask: maskIdOf(settings.zones, earlier),
    ...(login === undefined ? {} : { login }),
    created_at: earlier?.created_at ?? now,
    updated_at: now,
  };
  return { ...camera, reference: await referenceOf(reference as CameraRequest['reference'], camera, earlier, deps) };
}

/** Unchanged polygons keep their mask id, so that masked frames need not be masked again. */
function maskIdOf(zones: readonly Zone[], earlier: StoredCamera | undefined): string | null {
  const painted = (all: readonly Zone[]) =>
    JSON.stringify(all.filter(({ type }) => type === 'privacy').map(({ polygon }) => polygon));
  if (painted(zones) === '[]') return null;
  const same = earlier !== undefined && painted(earlier.settings.zones) === painted(zones);
  return same ? earlier.mask : newId('msk');
}

async function referenceOf(
  given: CameraRequest['reference'],
  camera: StoredCamera,
  earlier: StoredCamera | undefined,
  deps: PutDependencies,
): Promise<StoredFrameRef | null> {
  const field = 'reference';
  // Read also if it is not used, so that a damaged one is refused and not dropped.
  const picture = given == null ? given : await readPicture(given, camera.id, field, deps);
  if (picture === null || camera.settings.before !== 'reference') return null;
  if (picture === undefined) {
    if (earlier?.reference == null || earlier.mask === camera.mask) return earlier?.reference ?? null;
    throw invalidValue(
      'reference is not given, but the privacy zones have changed: expected the reference once more, ' +
        'or null for the next frame',
      field,
    );
  }
  return (await keepPicture(picture, camera, field, deps)).ref;
}

/**
 * @param given settings of the request
 * @param before settings of the camera before it
 * @param after settings with their defaults filled in
 * @returns paths of the settings that the request lacks and whose value has changed, as 'alerts.persist_s'
 */
export function resetSettings(given: object, before: object, after: object): string[] {
  const sent = new Map<string, unknown>(Object.entries(given));
  const earlier = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after).flatMap(([name, value]) => {
    const [wanted, known] = [sent.get(name), earlier.get(name)];
    if (isDeepStrictEqual(known, value)) return [];
    if (wanted === undefined) return [name];
    if (!isObject(wanted) || !isObject(known) || !isObject(value)) return [];
    return resetSettings(wanted, known, value).map((inner) => `${name}.${inner}`);
  });
}
