#!/usr/bin/env node
/** `scenedelta COMMAND`: finds the command and runs it. Each lives in a file of its own, loaded only when it is asked for. */
import { ScenedeltaError } from '../errors.js';
import type { Command } from './command.js';

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<{ command: Command }>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  compare: {
    summary: 'say what changed between two pictures',
    load: () => import('./compare.js'),
  },
  evaluate: {
    summary: 'measure a bundle on labelled pairs',
    load: () => import('./evaluate.js'),
  },
  feedback: {
    summary: 'get what people said of changes, to evaluate on',
    load: () => import('./feedback.js'),
  },
  models: {
    summary: 'list the bundles and check them',
    load: () => import('./models.js'),
  },
  keys: {
    summary: 'create, list and revoke API keys',
    load: () => import('./keys.js'),
  },
  serve: {
    summary: 'run the HTTP API',
    load: () => import('./serve.js'),
  },
  worker: {
    summary: 'run a worker',
    load: () => import('./worker.js'),
  },
};

/** Exit statuses of sysexits(3) would say more; scripts expect 2 for "called wrongly" as getopt's users do. */
const CALLED_WRONGLY = 2;

const overview = (): string =>
  [
    'usage: scenedelta COMMAND [options]',
    '',
    ...Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`),
    '',
    'scenedelta COMMAND --help tells more. Settings come from the environment: deploy/README.md',
  ].join('\n');

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...args] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    console.log(overview());
    return name === undefined ? CALLED_WRONGLY : 0;
  }
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (entry === undefined) {
    console.error(
      `scenedelta: no command ${JSON.stringify(name)}; expected one of ${Object.keys(COMMANDS).join(', ')}`,
    );
    return CALLED_WRONGLY;
  }
  const { command } = await entry.load();
  if (args.includes('--help') || args.includes('-h')) {
    console.log(`usage: scenedelta ${command.usage}`);
    return 0;
  }
  try {
    return await command.run(args);
  } catch (thrown) {
    return explain(name, thrown);
  }
}

/** Errors that a person can act on are one line; anything else is a defect and keeps its stack. */
function explain(name: string, thrown: unknown): number {
  const isArgumentError =
    thrown instanceof TypeError && 'code' in thrown && String(thrown.code).startsWith('ERR_PARSE_ARGS_');
  if (isArgumentError) {
    console.error(`scenedelta ${name}: ${thrown.message}`);
    return CALLED_WRONGLY;
  }
  if (thrown instanceof ScenedeltaError) {
    console.error(`scenedelta ${name}: ${thrown.message}`);
    return thrown.code === 'invalid-request' ? CALLED_WRONGLY : 1;
  }
  throw thrown;
}

// `scenedelta keys list | head`: a reader that has seen enough is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
// Not process.exit(): serve and worker go on, and output still has to leave.
process.exitCode = await main(process.argv.slice(2));
