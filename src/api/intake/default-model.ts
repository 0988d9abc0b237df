/** Check of DEFAULT_MODEL at the start of the API, which lists folders but loads no model. */
import { readdir } from 'node:fs/promises';
import type { Config } from '../../config.js';
import { invalidRequest } from '../../errors.js';

/**
 * An API on a machine without MODELS_DIR checks nothing: its workers do.
 * @throws ScenedeltaError 'invalid-request' if MODELS_DIR has no folder of that name
 */
export async function assertDefaultModel({
  modelsDir,
  defaultModel,
}: Pick<Config, 'modelsDir' | 'defaultModel'>): Promise<void> {
  const entries = await readdir(modelsDir, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined) return;
  const names = entries.filter((entry) => !entry.isFile()).map(({ name }) => name);
  if (names.includes(defaultModel)) return;
  throw invalidRequest(
    `DEFAULT_MODEL=${JSON.stringify(defaultModel)}: expected a folder of ${modelsDir}, one of ${names.sort().join(', ')}`,
    'DEFAULT_MODEL',
  );
}
