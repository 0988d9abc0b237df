/** `scenedelta serve`: the API's own process entry, which listens, logs and closes on signals by itself. */
import { parseArgs } from 'node:util';
import type { Command } from './command.js';

export const command: Command = {
  usage: `serve

Runs the HTTP API in the foreground, as dist/api/main.js does. Settings come from the environment
(HOST, PORT, REDIS_URL, DATA_DIR ...: deploy/README.md). SIGTERM closes it gracefully.`,
  async run(args) {
    parseArgs({ args, options: {} }); // it takes none, and says so
    await import('../api/main.js');
    return 0;
  },
};
