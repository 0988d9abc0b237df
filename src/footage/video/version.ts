/** The version of ffmpeg, and the option that differs between versions. */
import { LRUCache } from 'lru-cache';
import { notFound } from '../../base/errors.js';
import { run } from './run.js';

const OLDEST = [4, 2] as const;
/** The first version with -fps_mode, instead of -vsync. */
const FPS_MODE = [5, 1] as const;
const TIMEOUT_MS = 20_000;
type Version = readonly [major: number, minor: number];

const isBefore = ([major, minor]: Version, other: Version) =>
  major < other[0] || (major === other[0] && minor < other[1]);

/** @returns the version that `ffmpeg -version` prints; undefined of a build of an unreleased state, which is newer */
export function parseVersion(printed: string): Version | undefined {
  const [, major, minor] = /^ffmpeg version n?(\d{1,3})\.(\d+)/.exec(printed) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor)];
}

const optionsByProgram = new LRUCache<string, string[]>({ max: 16 });

/**
 * @returns the options with which ffmpeg writes each frame that a filter passes on, once
 * @throws ScenedeltaError not-found if the program is not installed or too old; processing-timeout; cancelled
 */
export async function passthroughOptions(ffmpeg: string, signal: AbortSignal): Promise<string[]> {
  const known = optionsByProgram.get(ffmpeg);
  if (known !== undefined) return known;
  const { stdout } = await run(ffmpeg, ['-version'], { signal, timeoutMs: TIMEOUT_MS });
  const version = parseVersion(stdout.toString('latin1'));
  if (version !== undefined && isBefore(version, OLDEST)) {
    const expected = `expected ${OLDEST.join('.')} or a later version (setting FFMPEG)`;
    throw notFound(`${ffmpeg} is version ${version.join('.')}, ${expected}`);
  }
  const isOld = version !== undefined && isBefore(version, FPS_MODE);
  const options = [isOld ? '-vsync' : '-fps_mode', 'passthrough'];
  optionsByProgram.set(ffmpeg, options);
  return options;
}
