#!/usr/bin/env node
/**
 * `scenedelta COMMAND`: the program. Each command lives in a file of its own, which is loaded only when it is asked
 * for.
 */
import { type Command, CommanderError } from 'commander';
import { ScenedeltaError } from '../base/errors.js';
import { VERSION } from '../base/version.js';
import { createCommand } from './command.js';
import { labCommand } from './lab.js';
import { printError } from './print.js';

type Entry = readonly [summary: string, load: () => Promise<{ readonly command: Command }>];

const COMMANDS: Readonly<Record<string, Entry>> = {
  compare: ['say what changed between two pictures', () => import('./compare.js')],
  footage: ['say what changed in recordings, and when', () => import('./footage.js')],
  evaluate: ['measure a bundle on labelled pairs', () => labCommand('evaluate')],
  search: ['search the results of footage for words', () => import('./search.js')],
  when: ['find when a place in a recording changed', () => import('./when.js')],
  watch: ['send the pictures of a folder to the service', () => import('./watch.js')],
  models: ['list the bundles and check them', () => import('./models.js')],
  keys: ['create, list and revoke API keys', () => import('./keys.js')],
  up: [
    'run the whole service: Redis, the API and a worker',
    async () => ({ command: (await import('./processes.js')).up }),
  ],
  serve: ['run the HTTP API', async () => ({ command: (await import('./processes.js')).serve })],
  worker: ['run a worker', async () => ({ command: (await import('./processes.js')).worker })],
};

/** Answers to removed commands. */
const REMOVED: Readonly<Record<string, string>> = {
  shift: 'is removed; `scenedelta rounds` compares two times of each day of the cameras of a service',
  tune: 'is removed; `scenedelta feedback` exports the judged changes as labelled pairs',
};

/**
 * Programs that use the API of a service (clients/README.md). The command line knows their names alone and loads the
 * program that was built beside it, which parses, runs and explains itself.
 */
const CLIENTS: Readonly<Record<string, string>> = {
  companion: 'describe the events of a Frigate recorder',
  feedback: 'export the feedback on changes, to evaluate on',
  import: 'set up the cameras of a Frigate or go2rtc',
  mcp: 'offer the service to agents (MCP)',
  mqtt: 'bring changes, pictures and switches to an MQTT broker, for Home Assistant',
  onvif: 'find the cameras of a network, and set them up',
  rounds: 'compare two times of each day of cameras',
  verify: 'check an evidence package',
};
const CLIENT_PROGRAM = new URL('../clients/main.js', import.meta.url);

/**
 * Exit status of a usage error. Scripts expect 2, as programs with getopt have it, and not the statuses of
 * sysexits(3).
 */
const USAGE_ERROR = 2;

async function buildProgram(asked: string | undefined): Promise<Command> {
  const program = createCommand('scenedelta')
    .version(VERSION)
    .addHelpText(
      'after',
      '\nscenedelta COMMAND --help lists the options. Settings come from the environment: deploy/README.md',
    );
  for (const [name, [summary, load]] of Object.entries(COMMANDS)) {
    const { command } = name === asked ? await load() : { command: createCommand(name) };
    program.addCommand(command.summary(summary));
  }
  for (const [name, summary] of Object.entries(CLIENTS)) program.addCommand(createCommand(name).summary(summary));
  return program;
}

async function main(argv: readonly string[]): Promise<number> {
  const [name] = argv;
  const program = await buildProgram(name);
  if (name === undefined || name === 'help') {
    program.outputHelp();
    return name === undefined ? USAGE_ERROR : 0;
  }
  if (Object.hasOwn(REMOVED, name)) {
    printError(`scenedelta ${name}: ${REMOVED[name]}`);
    return USAGE_ERROR;
  }
  try {
    await program.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (thrown) {
    return explain(program, name, thrown);
  }
}

/**
 * Prints an error that a person can act on as one line.
 * @returns the exit status
 * @throws anything else: it is a defect and keeps its stack
 */
function explain(program: Command, name: string, thrown: unknown): number {
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return 0;
    const message = thrown.message
      .replace(/^error: /, '')
      .replace('\n', ' ')
      .replace('(outputHelp)', 'no command');
    const isAboutCommands = ['commander.unknownCommand', 'commander.help'].includes(thrown.code);
    const { commands } = program.commands.find((command) => command.name() === name) ?? program;
    const expected = `; expected one of ${commands.map((command) => command.name()).join(', ')}`;
    printError(`scenedelta ${name}: ${message}${isAboutCommands ? expected : ''}`);
    return USAGE_ERROR;
  }
  if (thrown instanceof ScenedeltaError) {
    printError(`scenedelta ${name}: ${thrown.message}`);
    return thrown.code === 'invalid-request' ? USAGE_ERROR : 1;
  }
  throw thrown;
}

async function runCommand(argv: readonly string[]): Promise<void> {
  // `scenedelta keys list | head`: a reader that has seen enough is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  const status = await main(argv);
  if (status === 0) return;
  process.exitCode = status;
  // A connection that a failed start left open would keep the process running. Pending output is written first.
  process.stderr.write('', () => process.stdout.write('', () => process.exit()));
}

const argv = process.argv.slice(2);
if (Object.hasOwn(CLIENTS, argv[0] ?? '')) await import(CLIENT_PROGRAM.href);
else await runCommand(argv);
