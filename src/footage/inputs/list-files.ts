/** Files that the inputs of a run name: files, folders, globs, image sequences and `s3://` prefixes. */
import { opendir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve, sep } from 'node:path';
import { glob, isDynamicPattern } from 'tinyglobby';
import { invalidRequest, invalidValue, ScenedeltaError } from '../../base/errors.js';
import type { S3Client } from '../../stores/blobs/s3-client.js';
import type { Location } from './recording-plan.js';
import type { NameParts } from './template.js';

export interface ListedFile {
  readonly kind: 'video' | 'image';
  /** as the input names it, with / as separator */
  readonly file: string;
  readonly location: Location;
  /** epoch ms; null if it has to be read from the file */
  readonly modifiedAt: number | null;
  /** stated beside the file, as in a manifest; it precedes what the name says */
  readonly stated?: Omit<NameParts, 'order'>;
  /** why it cannot be read; `file` may be a folder then */
  readonly fault?: ScenedeltaError;
}

const VIDEO = new Set(
  `mp4 m4v mov mkv webm avi ts mts m2ts mpg mpeg vob flv wmv asf
   3gp dav h264 264 h265 265 hevc ogv mjpeg mjpg wtv mxf gif`.split(/\s+/),
);
const IMAGE = new Set(['jpg', 'jpeg', 'png', 'webp', 'avif', 'tif', 'tiff']);

/** @returns undefined for other files, which folders may contain */
export function kindOf(file: string): ListedFile['kind'] | undefined {
  const extension = extname(file).slice(1).toLowerCase();
  if (VIDEO.has(extension)) return 'video';
  return IMAGE.has(extension) ? 'image' : undefined;
}

interface ListOptions {
  /** folder of the outputs; nothing below it is an input. null: there is none */
  readonly outputs: string | null;
  readonly s3: S3Client | undefined;
}

/**
 * @param input a file, a folder (with those below it), a glob, a pattern as `frame-%04d.jpg`, or `s3://bucket/prefix`
 * @throws ScenedeltaError 'invalid-request' if it names nothing
 */
export async function* listFiles(input: string, options: ListOptions): AsyncGenerator<ListedFile> {
  if (input.startsWith('s3://')) yield* listObjects(input, options.s3);
  else {
    const found = await stat(input).catch(() => undefined);
    const outputs = options.outputs === null ? null : resolve(options.outputs);
    if (found?.isDirectory()) {
      if (!isOutput(input, outputs)) yield* walk(input, outputs);
    }
    // A file that was named is a video, whatever its name: ffprobe finds out.
    else if (found !== undefined) yield local(input, kindOf(input) ?? 'video');
    else if (/%0?\d*d/.test(input)) yield* imageSequence(input, outputs);
    else if (isDynamicPattern(input)) yield* matches(input, outputs);
    else throw invalidRequest(`${input} does not exist, expected a file, a folder or a glob`);
  }
}

const local = (path: string, kind: ListedFile['kind'], fault = faultOfName(path)): ListedFile => ({
  kind,
  file: path.split(sep).join('/'),
  location: { from: 'file', path },
  modifiedAt: null,
  ...(fault === undefined ? {} : { fault }),
});

/** Bytes of a name that are not UTF-8 become U+FFFD, under which nothing can be opened. */
const faultOfName = (path: string): ScenedeltaError | undefined =>
  path.includes('\ufffd') ? invalidValue('the name is not UTF-8: expected to rename it') : undefined;

/** Symbolic links to folders are not followed: they may form circles. A folder below that cannot be read is listed. */
async function* walk(folder: string, outputs: string | null): AsyncGenerator<ListedFile> {
  const folders: string[] = [];
  for await (const entry of await entriesOf(folder)) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    const kind = kindOf(entry.name);
    if (entry.isDirectory()) folders.push(path);
    else if (kind !== undefined) yield local(path, kind);
  }
  for (const path of folders) {
    if (isOutput(path, outputs)) continue;
    try {
      yield* walk(path, outputs);
    } catch (thrown) {
      if (!(thrown instanceof ScenedeltaError)) throw thrown;
      yield local(path, 'image', faultOfName(path) ?? thrown);
    }
  }
}

/** @throws ScenedeltaError 'invalid-request' */
const entriesOf = (path: string) =>
  opendir(path).catch((cause: NodeJS.ErrnoException) => {
    throw new ScenedeltaError('invalid-request', `${path} cannot be read (${cause.code})`, { cause });
  });

/** Whether a path lies in the folder of the outputs, of which nothing is an input. */
const isOutput = (path: string, outputs: string | null): boolean =>
  outputs !== null && `${resolve(path)}${sep}`.startsWith(`${outputs}${sep}`);

async function* matches(pattern: string, outputs: string | null): AsyncGenerator<ListedFile> {
  const paths = await glob(pattern, { expandDirectories: false, onlyFiles: true });
  let count = 0;
  for (const path of paths) {
    const kind = kindOf(path);
    if (kind === undefined || isOutput(path, outputs)) continue;
    count++;
    yield local(path, kind);
  }
  if (count === 0) {
    throw invalidRequest(`${pattern} matches no video and no picture (${paths.length} files)`);
  }
}

/** @param pattern as ffmpeg has it, e.g. `shots/frame-%04d.jpg` */
async function* imageSequence(pattern: string, outputs: string | null): AsyncGenerator<ListedFile> {
  const folder = dirname(pattern);
  const [before = '', after = ''] = basename(pattern).split(/%0?\d*d/);
  let count = 0;
  for await (const { name } of await entriesOf(folder)) {
    const number = name.startsWith(before) && name.endsWith(after) ? name.slice(before.length) : '';
    if (!/^\d+$/.test(number.slice(0, number.length - after.length)) || isOutput(folder, outputs)) continue;
    count++;
    yield local(join(folder, name), 'image');
  }
  if (count === 0) throw invalidRequest(`${pattern} matches no file in ${folder}`);
}

export async function* listObjects(input: string, s3: S3Client | undefined): AsyncGenerator<ListedFile> {
  const [, bucket, prefix = ''] = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(input) ?? [];
  if (bucket === undefined) {
    throw invalidRequest(`${input}: expected s3://BUCKET/PREFIX`);
  }
  if (s3 === undefined) throw invalidRequest(`${input}: expected S3_ENDPOINT to be set`);
  for await (const { key, lastModified } of s3.list(bucket, prefix)) {
    const kind = kindOf(key);
    if (kind === undefined) continue;
    yield { kind, file: `s3://${bucket}/${key}`, location: { from: 's3', bucket, key }, modifiedAt: lastModified };
  }
}
