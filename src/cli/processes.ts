/**
 * `scenedelta up`, which starts the others, and `scenedelta serve` and `scenedelta worker`: the process
 * entries, which listen, log and close on signals by themselves.
 */
import { createCommand } from './command.js';

export const up = createCommand('up')
  .description(
    'Starts Redis, the API and a worker, captions the example pair and keeps running, as `npm run up` does. Settings ' +
      'come from the environment (PORT, DATA_DIR ...: deploy/README.md). Ctrl-C stops everything.',
  )
  .action(async () => {
    // The script reads the options behind its name.
    process.argv.splice(2, 1);
    await import(new URL('../../scripts/up.mjs', import.meta.url).href);
  });

export const serve = createCommand('serve')
  .description(
    'Runs the HTTP API in the foreground, as dist/api/main.js does. Settings come from the environment (HOST, PORT, ' +
      'REDIS_URL, DATA_DIR ...: deploy/README.md). SIGTERM closes it gracefully.',
  )
  .action(async () => {
    await import('../api/main.js');
  });

export const worker = createCommand('worker')
  .description(
    'Runs one worker in the foreground, as dist/workers/main.js does. Settings come from the environment (REDIS_URL, ' +
      'DATA_DIR, MODELS_DIR, DEVICE ...: deploy/README.md). SIGTERM finishes the jobs it holds.',
  )
  .action(async () => {
    await import('../workers/main.js');
  });
