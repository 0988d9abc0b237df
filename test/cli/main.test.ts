/** The program around the commands: help, and usage errors as one line with status 2. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';

jest.setTimeout(60_000);

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const scenedelta = (...args: string[]): Promise<{ status: unknown; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : error.code, stdout, stderr }),
    );
  });

const COMMANDS =
  'compare, footage, evaluate, search, when, watch, models, keys, up, serve, worker, ' +
  'companion, feedback, import, mcp, mqtt, onvif, rounds, verify';

describe('help', () => {
  it.each([[['--help']], [['-h']], [['help']]])('%j lists the commands', async (args) => {
    const { status, stdout } = await scenedelta(...args);
    expect(status).toBe(0);
    for (const name of COMMANDS.split(', ')) expect(stdout).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
  });

  it('is shown without a command too, with the status of a usage error', async () => {
    expect(await scenedelta()).toMatchObject({
      status: 2,
      stdout: expect.stringContaining('Usage: scenedelta'),
    });
  });

  it('of a command lists its options', async () => {
    const { status, stdout } = await scenedelta('evaluate', '--help');
    expect(status).toBe(0);
    for (const option of ['bundle', 'json', 'predictions', 'from-predictions', 'baseline', 'nuisance'])
      expect(stdout).toContain(`--${option} <`);
  });
});

describe('a usage error', () => {
  it.each<[string, string[], string]>([
    [
      'an unknown command',
      ['compair'],
      `compair: unknown command 'compair' (Did you mean compare?); expected one of ${COMMANDS}`,
    ],
    [
      'a removed command',
      ['tune', '--feedback', 'x'],
      'tune: is removed; `scenedelta feedback` exports the judged changes as labelled pairs',
    ],
    [
      'a removed option',
      ['footage', 'yard.mp4', '-d', 'out', '--jobs', '2'],
      'footage: --jobs is removed: the pairs of one camera are compared one after the other',
    ],
    ['keys without a command', ['keys'], 'keys: no command; expected one of create, list, revoke'],
    [
      'an unknown command of keys',
      ['keys', 'make'],
      "keys: unknown command 'make'; expected one of create, list, revoke",
    ],
    ['a key without a name', ['keys', 'create'], "keys: required option '--name <name>' not specified"],
    [
      'a key with an empty name',
      ['keys', 'create', '--name', ' '],
      'keys: --name is empty; expected a name for the key',
    ],
    [
      'a scope that does not exist',
      ['keys', 'create', '--name', 'x', '--scopes', 'compare,write'],
      'keys: --scopes has "write"; expected some of read, judge, compare, batch, metrics, admin',
    ],
    [
      'a role that does not exist',
      ['keys', 'create', '--name', 'x', '--role', 'boss'],
      'keys: --role is "boss"; expected viewer, guard, integrator, admin',
    ],
    [
      'a role beside scopes',
      ['keys', 'create', '--name', 'x', '--role', 'guard', '--scopes', 'batch'],
      'keys: --role and --scopes are both given; expected one of them',
    ],
    [
      'a misspelt option of keys',
      ['keys', 'create', '--name', 'x', '--scope', 'batch'],
      "keys: unknown option '--scope' (Did you mean --scopes?)",
    ],
    ['no key to revoke', ['keys', 'revoke'], "keys: missing required argument 'id'"],
    [
      'a camera that cannot exist',
      ['keys', 'create', '--name', 'x', '--cameras', 'gate-3,*yard'],
      'keys: --cameras has "*yard"; expected the id of a camera, possibly with a * at its end (gate-3, gate-*, *)',
    ],
    [
      'cameras for a key that sees all',
      ['keys', 'create', '--name', 'x', '--scopes', 'admin', '--cameras', 'gate-3'],
      'keys: --cameras is given for a key with the scope admin, which sees every camera; expected one or the other',
    ],
    ['a misspelt option', ['models', '--jsno'], "models: unknown option '--jsno' (Did you mean --json?)"],
  ])('%s is one line, with status 2', async (_, args, message) => {
    expect(await scenedelta(...args)).toEqual({ status: 2, stdout: '', stderr: `scenedelta ${message}\n` });
  });
});
