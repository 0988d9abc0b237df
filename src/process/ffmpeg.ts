/**
 * ffmpeg and ffprobe as child processes. Their input comes from strangers, so they get no environment, little memory,
 * and a low priority. No other file starts them.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { notFound, type ScenedeltaError } from '../base/errors.js';
import { PROGRAM_PATH } from './config.js';

/** Address space of a child, KiB: several pictures of 4K per thread. */
const MEMORY_KIB = 3 * 1024 * 1024;
/** The shell sets limits that a child of Node cannot have otherwise, and becomes the program. */
const LIMITED = 'ulimit -v "$1" 2>/dev/null; shift; exec "$@"';
/** Exit statuses of the shell if a program cannot be started. */
const START_ERRORS: Readonly<Record<number, string>> = { 126: 'EACCES', 127: 'ENOENT' };

export interface FfmpegOptions {
  /** Drivers of GPUs reserve more address space than there is memory: the child has no limit of it. */
  readonly needsAddressSpace?: boolean;
}

/** @returns a process whose standard output and error must be read */
export function startFfmpeg(
  program: string,
  args: readonly string[],
  { needsAddressSpace = false }: FfmpegOptions = {},
): ChildProcess {
  const limit = needsAddressSpace ? 'unlimited' : String(MEMORY_KIB);
  const child = spawn('/bin/sh', ['-c', LIMITED, 'sh', limit, program, ...args], {
    // The environment has secrets of the service. Arenas of malloc would take the address space of each thread.
    env: { PATH: PROGRAM_PATH, LC_ALL: 'C', MALLOC_ARENA_MAX: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) {
    try {
      setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // It has ended already.
    }
  }
  return child;
}

/** @returns the code of the error that kept a child from starting; undefined if it started */
export const startErrorOf = (status: number | null): string | undefined =>
  status === null ? undefined : START_ERRORS[status];

/** @returns the error of `startErrorOf` for the operator; undefined if the child started */
export function startFailure(program: string, status: number | null): ScenedeltaError | undefined {
  const code = startErrorOf(status);
  if (code === undefined) return undefined;
  const expected = 'expected ffmpeg and ffprobe, e.g. of the Debian package ffmpeg (setting FFMPEG)';
  return notFound(`${program} cannot be started (${code}), ${expected}`);
}
