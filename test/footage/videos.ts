/** Tiny videos for tests, made by ffmpeg. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Block, scene } from '../frames/pictures.js';

export const FFMPEG = process.env.FFMPEG ?? 'ffmpeg';
const execute = promisify(execFile);

/** Runs ffmpeg; `args` are those after `-y`. */
export const ffmpeg = (args: readonly string[]): Promise<unknown> =>
  execute(FFMPEG, ['-v', 'error', '-nostdin', '-y', ...args]);

/** The green block that the tiny bundle calls a thing. */
export const THING: Block = { x: 64, y: 16, width: 16, height: 16, colour: [60, 250, 80] };

export interface Part {
  /** frames of the part */
  readonly frames: number;
  readonly blocks: readonly Block[];
}

/**
 * Writes a video of 96x64 px whose parts follow each other.
 * @param options.rate frames per second
 * @param options.coding further options of ffmpeg; default: H.264 with a key frame per second
 */
export async function writeVideo(
  path: string,
  parts: readonly Part[],
  options: { readonly rate?: number; readonly coding?: readonly string[] } = {},
): Promise<void> {
  const { rate = 4, coding = ['-c:v', 'libx264', '-crf', '12', '-g', String(rate), '-pix_fmt', 'yuv420p'] } = options;
  const folder = await mkdtemp(join(tmpdir(), 'sd-video-'));
  try {
    const lines = ['ffconcat version 1.0'];
    for (const [i, { frames, blocks }] of parts.entries()) {
      await writeFile(join(folder, `${i}.png`), await scene(96, 64, blocks).png().toBuffer());
      for (let frame = 0; frame < frames; frame++) lines.push(`file ${i}.png`, `duration ${1 / rate}`);
    }
    await writeFile(join(folder, 'list.txt'), lines.join('\n'));
    await ffmpeg(['-f', 'concat', '-i', join(folder, 'list.txt'), '-r', String(rate), ...coding, path]);
  } finally {
    await rm(folder, { recursive: true });
  }
}
