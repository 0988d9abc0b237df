/** A program in place of ffmpeg that notes how it was called, and then becomes ffmpeg. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { isAlive } from './service.js';

const LIMIT_MS = 30_000;
const SCRIPT = `#!/bin/sh
/usr/bin/env > "$0.env"
printf '%s\\n' "$@" > "$0.args"
echo $$ > "$0.pid"
exec ffmpeg "$@"
`;

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

/** @returns the program, which is removed after the tests of the file */
export async function wrapFfmpeg() {
  const folder = await mkdtemp(join(tmpdir(), 'sd-ffmpeg-'));
  folders.push(folder);
  const program = join(folder, 'ffmpeg');
  await writeFile(program, SCRIPT, { mode: 0o700 });
  const read = (what: string) => readFile(`${program}.${what}`, 'utf8');
  return {
    program,
    environment: () => read('env'),
    arguments: () => read('args'),
    /** Waits for the start of the program. */
    started: () => eventually(async () => expectPid(await read('pid')), LIMIT_MS),
    /** Waits until the program has ended. */
    gone: async () => {
      const pid = expectPid(await read('pid'));
      await eventually(async () => {
        if (isAlive(pid)) throw new Error(`ffmpeg (${pid}) is still running`);
      }, LIMIT_MS);
    },
  };
}

function expectPid(text: string): number {
  const pid = Number(text);
  if (!(pid > 0)) throw new Error(`${JSON.stringify(text)} is no process id`);
  return pid;
}
