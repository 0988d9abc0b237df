/** `scenedelta worker`: a worker's own process entry, which takes jobs, logs and closes on signals by itself. */
import { parseArgs } from 'node:util';
import type { Command } from './command.js';

export const command: Command = {
  usage: `worker

Runs one worker in the foreground, as dist/workers/main.js does. Settings come from the environment
(REDIS_URL, DATA_DIR, MODELS_DIR, DEVICE ...: deploy/README.md). SIGTERM finishes the jobs it holds.`,
  async run(args) {
    parseArgs({ args, options: {} }); // it takes none, and says so
    await import('../workers/main.js');
    return 0;
  },
};
