/**
 * `scenedelta compare BEFORE AFTER`: runs one pair through the pipeline of the service, without queue and stores. The
 * threads open the graphs while the rest of the program (compare/pair.ts) loads.
 */
import { readFile } from 'node:fs/promises';
import { ScenedeltaError } from '../errors.js';
import { DEFAULT_LOCALE } from '../language/translate.js';
import { createLogger } from '../logger.js';
import { startPool } from '../pipeline/start-pool.js';
import { createCommand } from './command.js';
import { HEATMAP_FORMATS } from './compare/heatmap-formats.js';
import type { CompareOptions } from './compare/pair.js';
import { configWith, withBundles } from './config-with.js';
import { LOCALE_OPTION, readLocale } from './read-locale.js';
import { assertWritable } from './write-at-once.js';

export const command = createCommand('compare')
  .description('Says what changed between two pictures of one fixed camera.')
  .argument('<before>', 'the earlier picture')
  .argument('<after>', 'the later picture')
  .option('--json', 'print the finding as JSON instead of sentences')
  .option('--heatmap <file>', 'write both pictures with outlines of the change, side by side, as .png or .jpg')
  .option(
    '--ask <sentence>',
    'also print how probable this sentence is, by the truth check of the bundle and by the facts',
  )
  .option('--locale <tag>', LOCALE_OPTION, readLocale, DEFAULT_LOCALE)
  .option('--model <name>', 'bundle to use; default: DEFAULT_MODEL')
  .option('--device <device>', 'auto, cpu or cuda:N; default: DEVICE')
  .action(async (beforePath: string, afterPath: string, options: CompareOptions) => {
    const given = await configWith(options);
    // Everything that can be refused is checked before the models load, which takes seconds.
    if (options.heatmap !== undefined) await assertWritable(options.heatmap, HEATMAP_FORMATS);
    const frames = { before: await readFrame(beforePath), after: await readFrame(afterPath) };
    // A second thread costs more to start than it saves for one pair.
    const config = { ...given, inferenceThreads: given.inferenceThreads || 1 };
    const logger = createLogger({ level: 'silent', name: 'compare' });
    const starting = startPool({ config, logger, onlyDefault: true, warmUp: false });
    const [{ comparePair }] = await Promise.all([import('./compare/pair.js'), withBundles(config, starting)]);
    await comparePair(frames, { config, logger, starting }, options);
  });

async function readFrame(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ScenedeltaError('not-found', `${path} cannot be read (${code}), expected a picture`, { cause });
  }
}
