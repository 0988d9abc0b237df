/**
 * `scenedelta/client`: the API of a running service with the types of its description.
 *
 *     import { createClient } from 'scenedelta/client';
 *     const service = createClient({ url: 'http://127.0.0.1:8080', key });
 *     const { verdict, caption } = await service.compare(before, after);
 */
import type { components, paths } from '../../openapi/generated/api.js';
import { type FollowOptions, followEvents, type ReceivedEvent } from './events.js';
import { type Comparison, type FrameOptions, type PairOptions, postFrame, postPair } from './frames.js';
import { baseUrl, bearer, type Service, serviceAt } from './service.js';

export { Webhook, WebhookVerificationError } from 'standardwebhooks';
export { Failure, type FailureKind } from './failure.js';
export { ok } from './service.js';
export type { Comparison, components, FollowOptions, FrameOptions, PairOptions, paths, ReceivedEvent, Service };

export interface ClientOptions {
  /** address of the service; a path before /v1 is kept */
  readonly url: string;
  /** API key, as `scenedelta keys create` prints it; default: none */
  readonly key?: string | undefined;
  /** ends all requests under way */
  readonly signal?: AbortSignal;
}

/**
 * `api` has every operation (`api.GET('/v1/changes', ...)`), `ok` reads its answer or throws; `request` sends to an
 * address that an answer names.
 */
export interface Client extends Service {
  /** Compares two frames of one camera, given as encoded bytes. @throws Failure, as `postFrame` */
  compare(before: Uint8Array, after: Uint8Array, options?: PairOptions): Promise<Comparison>;
  /**
   * Sends the next frame of a camera.
   * @throws Failure 'unauthorized', 'refused' (the same request fails again; also if the service has another major
   * version than this client) or 'unavailable' (a later attempt may succeed)
   */
  postFrame(camera: string, frame: Uint8Array, options?: FrameOptions): Promise<Comparison>;
  /** The events of the service, without end; the connection is made again after it broke, and no event is missed. */
  events(options?: FollowOptions): AsyncGenerator<ReceivedEvent, void, undefined>;
}

/** @throws Failure 'usage' if `url` is no http(s) address */
export function createClient({ url, key, signal }: ClientOptions): Client {
  const service = serviceAt(baseUrl(url, 'url'), bearer(key), signal);
  return {
    ...service,
    compare: (before, after, options) => postPair(service, { before, after }, options),
    postFrame: (camera, frame, options) => postFrame(service, camera, frame, options),
    events: (options) => followEvents(service, options),
  };
}
