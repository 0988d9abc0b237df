/** The limits of ffmpeg and ffprobe, shown by the shell in their place. */
import { constants, getPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { run } from '../../src/footage/video/run.js';
import { startFfmpeg } from '../../src/process/ffmpeg.js';

it('a child has 3 GiB of address space, a low priority and nothing of the environment', async () => {
  process.env.REDIS_URL = 'redis://secret';
  const child = startFfmpeg('/bin/sh', ['-c', 'ulimit -v; env; sleep 0.2']);
  expect(getPriority(child.pid)).toBe(constants.priority.PRIORITY_BELOW_NORMAL);
  const [limit, ...environment] = (await text(child.stdout as NodeJS.ReadableStream)).trim().split('\n');
  delete process.env.REDIS_URL;
  expect(limit).toBe(String(3 * 1024 * 1024));
  const names = environment.map((line) => line.split('=')[0]);
  expect(names.filter((name) => !['PWD', 'OLDPWD', '_', 'SHLVL'].includes(name ?? '')).sort()).toEqual([
    'LC_ALL',
    'MALLOC_ARENA_MAX',
    'PATH',
  ]);
});

it('a program that does not end is ended, as is one whose caller has gone', async () => {
  const late = run('/bin/sleep', ['60'], { timeoutMs: 50 });
  await expect(late).rejects.toMatchObject({ code: 'processing-timeout' });
  const gone = run('/bin/sleep', ['60'], { timeoutMs: 60_000, signal: AbortSignal.timeout(50) });
  await expect(gone).rejects.toMatchObject({ code: 'cancelled' });
});
