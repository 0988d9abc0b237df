/** The API of a running service: its address, the key, and requests with the types of openapi.yaml. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import createClient, { type Client } from 'openapi-fetch';
import type { paths } from '../../openapi/generated/api.js';
import type { ServiceOptions } from './command.js';
import { Failure, failureOf, refused, usage } from './failure.js';
import { VERSION } from './version.js';

/** @returns the answer, whatever its status is. @throws Failure 'unavailable' if there is none */
export type ApiRequest = (path: string, init?: RequestInit) => Promise<Response>;

export interface Service {
  /** without a slash at the end */
  readonly base: string;
  /** by path, for addresses that an answer has and for bodies that are no JSON */
  readonly request: ApiRequest;
  /** by operation; `ok` reads its answers */
  readonly api: Client<paths>;
}

/** @throws Failure 'usage' if the address or the file of the key cannot be used */
export async function openService(options: ServiceOptions): Promise<Service> {
  return serviceAt(baseUrl(options.api, '--api'), bearer(await keyOf(options.keyFile)));
}

/**
 * @param authorization value of the header of each request; undefined: none
 * @param stop ends requests under way
 */
export function serviceAt(base: string, authorization: string | undefined, stop?: AbortSignal): Service {
  const send = async (request: Request): Promise<Response> => {
    if (authorization !== undefined) request.headers.set('authorization', authorization);
    const signal = stop === undefined ? request.signal : AbortSignal.any([request.signal, stop]);
    const response = await fetch(request, { signal }).catch((cause: Error) => {
      if (cause.name === 'AbortError') throw cause;
      throw new Failure('unavailable', `${new URL(base).origin} does not answer: is the service running?`, { cause });
    });
    checkVersion(response);
    return response;
  };
  return {
    base,
    request: (path, init) => send(new Request(`${base}${path}`, init)),
    api: createClient<paths>({ baseUrl: base, fetch: send }),
  };
}

/** @throws Failure 'refused' with both versions if the service has another major version than this client */
function checkVersion({ url, headers }: Response): void {
  const version = headers.get('scenedelta-version') ?? VERSION;
  const [ours, theirs] = [VERSION, version].map((one) => one.split('.', 1)[0]);
  if (ours === theirs) return;
  const { origin } = new URL(url);
  throw refused(
    `${origin} is scenedelta ${version}, and this client is ${VERSION}: a client of version ${theirs} is needed`,
  );
}

interface Answer<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly response: Response;
}

/** @returns the body of a success. @throws Failure with title and detail of the problem */
export async function ok<T>(call: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await call;
  if (response.ok) return data as T;
  throw failureOf(
    response.status,
    `${response.url} answered ${response.status}: ${problemText(error) ?? response.statusText}`,
  );
}

/** @returns title and detail of a refusal (problem+json), or the text of its status */
export async function reasonOf(response: Response): Promise<string> {
  return problemText(await response.json().catch(() => null)) ?? response.statusText;
}

function problemText(body: unknown): string | undefined {
  const { title, detail } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const texts = [title, detail].filter((text) => typeof text === 'string');
  return texts.length === 0 ? undefined : texts.join(': ');
}

/**
 * @param name option that the address comes from
 * @param of name of the program there, for the message
 * @returns the address without a slash at the end; a path before /v1 is kept
 * @throws Failure 'usage' if it is no http(s) address or has a user, query or fragment
 */
export function baseUrl(base: string, name: string, of = 'API'): string {
  const url = URL.canParse(base) ? new URL(base) : null;
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '';
  if (isAddress && url.search + url.hash === '') return url.href.replace(/\/+$/, '');
  throw usage(`${name} ${JSON.stringify(base)}: expected the address of the ${of}, e.g. http://127.0.0.1:8080`);
}

export const bearer = (key: string | undefined): string | undefined =>
  key === undefined ? undefined : `Bearer ${key}`;

/**
 * @param keyFile undefined: first-key in DATA_DIR, if it exists
 * @throws Failure 'usage' if the file cannot be read
 */
export async function keyOf(keyFile: string | undefined): Promise<string | undefined> {
  const path = keyFile ?? join(process.env.DATA_DIR ?? 'data', 'first-key');
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    if (keyFile === undefined) return undefined;
    throw usage(`--key-file ${path}: cannot be read`, cause);
  }
}
