#!/usr/bin/env node
/**
 * Runs one client: `node dist/clients/main.js NAME ...`, which `scenedelta NAME ...` starts. Exit status: 0 done,
 * 1 failed, 2 called wrongly, as programs with getopt have it.
 */
import { type Command, CommanderError } from 'commander';
import { createCommand } from './command.js';
import { Failure } from './failure.js';
import { printError } from './print.js';

const CLIENTS: Readonly<Record<string, () => Promise<{ readonly command: Command }>>> = {
  companion: () => import('./frigate/command.js'),
  feedback: () => import('./feedback/command.js'),
  import: () => import('./import/command.js'),
  mcp: () => import('./mcp/command.js'),
  mqtt: () => import('./mqtt/command.js'),
  onvif: () => import('./onvif/command.js'),
  rounds: () => import('./rounds/command.js'),
  verify: () => import('./verify/command.js'),
};

async function main([name = '', ...args]: readonly string[]): Promise<number> {
  const load = CLIENTS[name];
  if (load === undefined) {
    printError(`${JSON.stringify(name)}: expected a client, one of ${Object.keys(CLIENTS).join(', ')}`);
    return 2;
  }
  const { command } = await load();
  // The parent gives the command its name in usage lines.
  createCommand('scenedelta').addCommand(command);
  try {
    await command.parseAsync(args, { from: 'user' });
    return 0;
  } catch (thrown) {
    return explain(command, thrown);
  }
}

/** Prints a failure as one line. @returns the exit status. @throws anything else: it is a defect */
function explain(command: Command, thrown: unknown): number {
  const say = (text: string) => printError(`scenedelta ${command.name()}: ${text}`);
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return 0;
    const message = thrown.message
      .replace(/^error: /, '')
      .replace('\n', ' ')
      .replace('(outputHelp)', 'no command');
    const isAboutCommands = ['commander.unknownCommand', 'commander.help'].includes(thrown.code);
    const names = command.commands.map((one) => one.name()).join(', ');
    say(`${message}${isAboutCommands ? `; expected one of ${names}` : ''}`);
    return 2;
  }
  if (!(thrown instanceof Failure)) throw thrown;
  say(thrown.message);
  return thrown.kind === 'usage' ? 2 : 1;
}

// `scenedelta rounds | head`: a reader that has seen enough is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
const status = await main(process.argv.slice(2));
if (status !== 0) {
  process.exitCode = status;
  // A connection that a failed start left open would keep the process running. Pending output is written first.
  process.stderr.write('', () => process.stdout.write('', () => process.exit()));
}
