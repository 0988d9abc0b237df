/** A folder that is watched: its complete pictures, and what becomes of those that were sent. */
import { appendFile, copyFile, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { invalidRequest } from '../../base/errors.js';
import { type ListedFile, listFiles } from '../../footage/inputs/list-files.js';

/** Names of the pictures that were sent and left in place, one per line: the same command goes on after a stop. */
const SENT = '.scenedelta-watch';

export type WatchedFolder = Awaited<ReturnType<typeof openFolder>>;

/**
 * @param then folder to which pictures that were sent are moved; 'delete'; null: they are left
 * @throws ScenedeltaError 'invalid-request' if the folder cannot be read
 */
export async function openFolder(path: string, then: string | null) {
  const found = await stat(path).catch(() => null);
  if (!found?.isDirectory()) throw invalidRequest(`${path}: expected a folder`);
  const journal = join(path, SENT);
  const sent = new Set((await readFile(journal, 'utf8').catch(() => '')).split('\n').filter((line) => line !== ''));
  const nameOf = (file: string) => relative(path, file);
  let isFirst = true;
  /** state of the files that were set aside, by name */
  const aside = new Map<string, string>();
  /** of the complete files of the last look */
  let states = new Map<string, string>();

  return {
    /** @param now epoch ms @param settleMs a file that did not change for so long is complete */
    async look(now: number, settleMs: number) {
      const complete: ListedFile[] = [];
      let [growing, videos, left] = [0, 0, 0];
      states = new Map();
      const kept: string[] = [];
      for await (const file of listFiles(path, { outputs: then === 'delete' ? null : then, s3: undefined })) {
        const name = nameOf(file.file);
        if (sent.has(name)) kept.push(name);
        else if (file.kind === 'video') videos++;
        else {
          // An upload may set the time of modification to that of the camera, but not that of the last alteration.
          const found = await stat(file.file).catch(() => null);
          const state = `${found?.size} ${found?.mtimeMs}`;
          const isGrowing = found === null || now - found.ctimeMs < settleMs;
          if (isGrowing && file.fault === undefined) growing++;
          else if (aside.get(name) === state) left++;
          else {
            complete.push(file);
            states.set(name, state);
          }
        }
      }
      if (isFirst && kept.length < sent.size) {
        sent.clear();
        for (const name of kept) sent.add(name);
        await writeFile(journal, kept.map((name) => `${name}\n`).join(''));
      }
      isFirst = false;
      return { complete, growing, videos, left };
    },
    /** Leaves the file out of later looks, which count it, until it alters. @param name of the file as it was listed */
    setAside(name: string): void {
      aside.set(nameOf(name), states.get(nameOf(name)) ?? '');
    },
    /** @returns null if the file is gone */
    read: (file: string) => readFile(file).catch(() => null),
    /** @param name of the file as it was listed */
    async done(name: string, file: string): Promise<void> {
      if (then === 'delete') return rm(file, { force: true });
      if (then === null) {
        sent.add(nameOf(name));
        return appendFile(journal, `${nameOf(name)}\n`);
      }
      const target = resolve(then, nameOf(name));
      await mkdir(dirname(target), { recursive: true });
      await rename(file, target).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EXDEV') throw error;
        await copyFile(file, target);
        await rm(file);
      });
    },
  };
}
