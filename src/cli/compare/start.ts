/** Start of `scenedelta compare`: checks what it was given, and opens the graphs while compare/pair.ts loads. */
import { readFile } from 'node:fs/promises';
import { ScenedeltaError } from '../../base/errors.js';
import type { BootedThread } from '../../inference/thread-handle.js';
import { startPool } from '../../pipeline/start-pool.js';
import { SILENT } from '../../process/silent-logger.js';
import { configWith, withBundles } from '../config-with.js';
import { assertWritable } from '../write-at-once.js';
import { HEATMAP_FORMATS } from './heatmap-formats.js';
import type { CompareOptions } from './pair.js';

/** @throws ScenedeltaError if a file or a setting does not fit, and as `comparePair` */
export async function startCompare(
  beforePath: string,
  afterPath: string,
  options: CompareOptions,
  booted: BootedThread,
): Promise<void> {
  const given = await configWith(options);
  // Everything that can be refused is checked before the models load, which takes seconds.
  if (options.heatmap !== undefined) await assertWritable(options.heatmap, HEATMAP_FORMATS);
  const frames = { before: await readFrame(beforePath), after: await readFrame(afterPath) };
  // A second thread costs more to start than it saves for one pair.
  const config = { ...given, inferenceThreads: given.inferenceThreads || 1 };
  const starting = startPool({ config, logger: SILENT, onlyDefault: true, warmUp: false, evidenceHere: true, booted });
  const loading = import('./pair.js').then(
    ({ comparePair: compare }) => compare,
    async (error) => {
      // The threads would keep the process running.
      await (await starting).pool.close();
      throw error;
    },
  );
  const [comparePair] = await Promise.all([loading, withBundles(config, starting)]);
  await comparePair(frames, { config, starting }, options);
}

async function readFrame(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ScenedeltaError('not-found', `${path} cannot be read (${code}), expected a picture`, { cause });
  }
}
