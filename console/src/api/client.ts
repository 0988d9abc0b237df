/** Client of the service's public API, with the types of its OpenAPI description. */
import createClient from 'openapi-fetch';
import type { paths } from '../../../openapi/generated/api.js';
import { locale, t } from '../texts/texts.js';
import { reportAway, reportReached } from './connection.js';
import { addressOf, ROOT } from './root.js';
import type { Box, Side } from './types.js';

/** An answer that is no success, as a sentence for people. */
export class ApiError extends Error {
  constructor(
    /** 0: there was no answer */
    readonly status: number,
    message: string,
    /** part of the request that was refused, e.g. 'before' */
    readonly field: string | undefined = undefined,
  ) {
    super(message);
  }
}

let onSignedOut = () => {};
/** @param listener is called if an answer says that the session has ended */
export const whenSignedOut = (listener: () => void): void => {
  onSignedOut = listener;
};

/** A proxy answers these instead of a service that is away. */
const AWAY = [502, 504];

/**
 * As fetch, in the language of the page; it notes whether the service can be reached.
 * @throws ApiError with status 0 if it cannot
 */
export async function fetchApi(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  let response: Response;
  const request = new Request(input, init);
  request.headers.set('Accept-Language', locale);
  try {
    response = await fetch(request);
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    reportAway();
    throw new ApiError(0, t('The service cannot be reached.'));
  }
  if (await isWithoutStore(response)) {
    reportAway('without store');
    throw new ApiError(0, t('The store of the service does not answer.'));
  }
  if (AWAY.includes(response.status)) reportAway();
  else if (response.ok) reportReached();
  if (response.status === 401) onSignedOut();
  return response;
}

/** @returns whether the service answers that it cannot reach Redis */
async function isWithoutStore(response: Response): Promise<boolean> {
  if (response.status !== 503) return false;
  const { type } = await response
    .clone()
    .json()
    .catch(() => ({}));
  return typeof type === 'string' && type.endsWith('/queue-unavailable');
}

export const api = createClient<paths>({
  baseUrl: ROOT,
  fetch: fetchApi,
  // A session may alter something only with this header, which pages of other origins cannot send.
  headers: { 'X-CSRF-Protection': '1' },
});

interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** @returns the body of a success. @throws ApiError with the detail of the problem */
export async function ok<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  throw problemOf(error, response.status);
}

export function problemOf(body: unknown, status: number): ApiError {
  const { detail, title, field } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const text = [detail, title].find((one) => typeof one === 'string') as string | undefined;
  return new ApiError(
    status,
    text ?? t('The service answered {status}.', { status: String(status) }),
    typeof field === 'string' ? field : undefined,
  );
}

/** @returns a sentence for people about anything that was thrown */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** @returns the address of a frame of a comparison. @param size small: for lists */
export const frameAddress = (comparison: string, side: Side, size: 'full' | 'small'): string =>
  addressOf(`/v1/comparisons/${comparison}/frames/${side}?size=${size}`);

/** @returns the address of the part of a frame around a thing; without a box, that of the small frame */
export function cropAddress(comparison: string, side: Side, box: Box | null): string {
  if (box === null) return frameAddress(comparison, side, 'small');
  const around = [box.x, box.y, box.width, box.height].map((share) => Number(share.toFixed(3))).join();
  return addressOf(`/v1/comparisons/${comparison}/frames/${side}?around=${around}`);
}

/** Links of answers begin with PUBLIC_URL; the page may have been opened by another name of the same service. */
export function localAddress(link: string): string {
  const { pathname, search } = new URL(link, location.origin);
  return addressOf(pathname.slice(pathname.indexOf('/v1/')) + search);
}
