/**
 * `scenedelta compare BEFORE AFTER`: runs one pair through the pipeline of the service, without queue and stores. The
 * thread of the graphs loads its code, and opens them, while the rest of the program (compare/start.ts) loads.
 */
import { setFlagsFromString } from 'node:v8';
import { bootThread } from '../inference/thread-handle.js';
import { DEFAULT_LOCALE } from '../language/translate.js';
import { createCommand } from './command.js';
import type { CompareOptions } from './compare/pair.js';
import { LOCALE_OPTION, readLocale } from './read-locale.js';

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
    // One pair is compared before optimised code pays for its compilation, which took a fifth of the CPU time.
    setFlagsFromString('--no-opt');
    const booted = bootThread(1);
    const { startCompare } = await import('./compare/start.js');
    await startCompare(beforePath, afterPath, options, booted);
  });
