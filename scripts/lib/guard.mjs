/**
 * `node guard.mjs SIGNAL command args...` where the kernel cannot tie a child to its parent: runs the command, passes
 * on signals and messages, and sends it SIGNAL when our standard input closes, which it does when our parent dies.
 */
import { spawn } from 'node:child_process';

const [deathSignal, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
child.once('spawn', () => process.send?.({ guarded: child.pid }));
child.on('message', (message) => process.send?.(message));
child.once('error', (error) => {
  console.error(error.message);
  process.exit(127);
});
child.once('exit', (status, signal) => process.exit(status ?? (signal === null ? 1 : 128)));
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => child.kill(signal));
process.stdin.resume().once('end', () => child.kill(`SIG${deathSignal}`));
// The death of the parent also closes the message channel; the guard must not end before its child.
process.on('disconnect', () => {});
