/** Address and key of a running service that a command sends to, and the reason of a refusal. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { invalidRequest, ScenedeltaError } from '../base/errors.js';
import type { Config } from '../process/config.js';

/** @returns title and detail of a refusal (problem+json), or the text of its status */
export async function reasonOf(response: Response): Promise<string> {
  const problem = (await response.json().catch(() => null)) as { title?: string; detail?: string } | null;
  return [problem?.title, problem?.detail].filter((text) => text !== undefined).join(': ') || response.statusText;
}

/**
 * @param base address of an API
 * @param name option or setting that the address comes from
 * @param of name of the program there, for the message
 * @returns the address without a slash at the end; a path before /v1 is kept
 * @throws ScenedeltaError 'invalid-request' if it is no http(s) address or has a user, query or fragment
 */
export function baseUrl(base: string, name: string, of = 'API'): string {
  const url = URL.canParse(base) ? new URL(base) : null;
  const isAddress = url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === '';
  if (isAddress && url.search + url.hash === '') return url.href.replace(/\/+$/, '');
  throw invalidRequest(
    `${name} ${JSON.stringify(base)}: expected the address of the ${of}, e.g. http://127.0.0.1:8080`,
  );
}

/**
 * @param keyFile undefined: first-key in DATA_DIR, if it exists
 * @throws ScenedeltaError 'invalid-request' if the file cannot be read
 */
export async function keyOf(config: Pick<Config, 'dataDir'>, keyFile: string | undefined): Promise<string | undefined> {
  const path = keyFile ?? join(config.dataDir, 'first-key');
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    if (keyFile === undefined) return undefined;
    throw new ScenedeltaError('invalid-request', `--key-file ${path}: cannot be read`, { cause });
  }
}
