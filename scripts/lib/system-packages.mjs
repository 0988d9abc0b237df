/** Installs programs with the package manager of the operating system. */
import { probe, run, Stop, say, seconds, which } from './shell.mjs';

/** Supported package managers and their commands. */
const MANAGERS = [
  {
    program: 'apt-get',
    root: true,
    before: ['update', '-q'],
    install: ['install', '-y', '-q', '--no-install-recommends'],
  },
  { program: 'dnf', root: true, install: ['install', '-y', '-q'] },
  { program: 'apk', root: true, install: ['add', '--no-cache'] },
  { program: 'pacman', root: true, install: ['-S', '--noconfirm', '--needed'] },
  { program: 'brew', root: false, install: ['install', '--quiet'] },
];

let updated = false;

/**
 * @param {Record<string, string>} names the package's name for each manager that has it
 * @param {string} otherwise advice for the reader if installing is not allowed
 * @throws Stop naming the command to run by hand
 */
export async function installSystemPackage(what, names, otherwise) {
  const manager = MANAGERS.find(({ program }) => names[program] !== undefined && which(program));
  if (manager === undefined) {
    throw new Stop(
      `${what} is missing, and none of ${Object.keys(names).join(', ')} is here to install it.\n${otherwise}`,
    );
  }
  const command = [manager.program, ...manager.install, names[manager.program]];
  const asRoot = manager.root && process.getuid?.() !== 0;
  if (asRoot && !(which('sudo') && probe('sudo', ['-n', 'true']).ok)) {
    throw new Stop(
      `${what} is missing, and installing it needs root. Run\n\n  sudo ${command.join(' ')}\n\nand ` +
        `start again.\n${otherwise}`,
    );
  }
  const start = Date.now();
  say(what, `installing (${command.join(' ')}) ...`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const privileged = (args) => (asRoot ? run('sudo', ['-n', ...args], { env }) : run(args[0], args.slice(1), { env }));
  // Once for all packages of a run.
  if (manager.before && !updated) await privileged([manager.program, ...manager.before]);
  updated = true;
  const { ok, output } = await privileged(command);
  if (!ok) throw new Stop(`${command.join(' ')} failed:\n${output.trim().slice(-2000)}\n\n${otherwise}`);
  say(what, `installed in ${seconds(start)}`);
  return { privileged };
}
