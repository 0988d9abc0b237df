/** Requests of commands to the API of a running service. */
import { ScenedeltaError } from '../errors.js';

/** @returns the answer, whatever its status is. @throws ScenedeltaError 'url-unavailable' if there is none */
export type ApiRequest = (path: string, init?: RequestInit) => Promise<Response>;

/**
 * @param base address without a slash at the end
 * @param authorization value of the header of each request; undefined: none
 */
export function createApiRequest(base: string, authorization: string | undefined): ApiRequest {
  return (path, init = {}) => {
    const headers = { ...init.headers, ...(authorization === undefined ? {} : { authorization }) };
    return fetch(new URL(`${base}${path}`), { ...init, headers }).catch((cause: unknown) => {
      const { origin } = new URL(base);
      throw new ScenedeltaError('url-unavailable', `${origin} does not answer: is the service running?`, { cause });
    });
  };
}

export const bearer = (key: string | undefined): string | undefined =>
  key === undefined ? undefined : `Bearer ${key}`;

/** @returns title and detail of a refusal (problem+json), or the text of its status */
export async function reasonOf(response: Response): Promise<string> {
  const problem = (await response.json().catch(() => null)) as { title?: string; detail?: string } | null;
  return [problem?.title, problem?.detail].filter((text) => text !== undefined).join(': ') || response.statusText;
}
