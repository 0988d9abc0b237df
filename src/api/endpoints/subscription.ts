/**
 * Subscriptions: endpoints of the format web-push that a key without the scope admin makes for its own browser. They
 * are about the cameras of the key alone, belong to its owner, and end with the key.
 */
import { notFound, ScenedeltaError } from '../../base/errors.js';
import { matchesCamera } from '../../camera/settings/id-pattern.js';
import type { EndpointPatch } from '../../endpoints/settings.js';
import type { EndpointRecord, StoredEndpoint } from '../../stores/delivery/endpoints.js';
import type { Visibility } from '../../stores/redis/visibility.js';

interface Requester {
  readonly apiKeyId: string | undefined;
  readonly isAdmin: boolean;
  readonly visibility: Visibility;
}

/** @returns the subscriber of an endpoint that the request makes; undefined: it is an administrator's */
export function subscriberOf({ apiKeyId, isAdmin, visibility }: Requester): StoredEndpoint['subscriber'] {
  if (isAdmin || apiKeyId === undefined || visibility === 'everything') return undefined;
  return { key: apiKeyId, owner: visibility.owner };
}

/**
 * @returns the body with the cameras of the key in place of none
 * @throws ScenedeltaError 'forbidden' for another format, or a camera that the key does not see
 */
export function assertSubscription<T extends EndpointPatch>(given: T, { isAdmin, visibility }: Requester): T {
  if (isAdmin || visibility === 'everything') return given;
  if (given.format !== 'web-push') {
    throw forbidden(
      `format is ${given.format ?? 'standard-webhooks'}, expected web-push with a key without the scope admin`,
    );
  }
  const { cameras } = given;
  const visible = visibility.cameras;
  if (visible.length === 0) throw forbidden('The key has no cameras, expected one with cameras');
  if (cameras === undefined || cameras.length === 0)
    return { ...given, cameras: visible.includes('*') ? [] : [...visible] };
  const foreign = cameras.find((camera) => !visible.some((pattern) => covers(pattern, camera)));
  if (foreign === undefined) return given;
  throw forbidden(`cameras has ${JSON.stringify(foreign)}, expected cameras of this key (${visible.join(', ')})`);
}

/** Whether all cameras of a pattern are among those of another one. */
const covers = (pattern: string, camera: string): boolean =>
  camera.endsWith('*')
    ? pattern.endsWith('*') && camera.slice(0, -1).startsWith(pattern.slice(0, -1))
    : matchesCamera(pattern, camera);

export const isOwn = ({ subscriber }: EndpointRecord, { isAdmin, visibility }: Requester): boolean =>
  isAdmin || visibility === 'everything' || subscriber?.owner === visibility.owner;

/** @throws ScenedeltaError 'not-found', as for one that never was */
export function assertOwn(endpoint: EndpointRecord, requester: Requester): EndpointRecord {
  if (isOwn(endpoint, requester)) return endpoint;
  throw notFound(`There is no endpoint ${endpoint.id}: it never was or has been deleted`);
}

const forbidden = (detail: string) => new ScenedeltaError('forbidden', detail);
