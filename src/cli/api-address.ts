/** Address and key of an API that a command calls. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.js';
import { invalidRequest, ScenedeltaError } from '../errors.js';

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
