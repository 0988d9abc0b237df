/** The folder of a tuned bundle: written beside its place, checked, and renamed into it. */
import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { invalidRequest, type ScenedeltaError } from '../../errors.js';
import { BundleError } from '../../model/bundle.js';
import { type Bundle, type BundleManifest, loadBundle, MANIFEST_FILE } from '../../model/manifest.js';

const NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

/**
 * @returns the absolute path
 * @param replace whether a tuned bundle that is there already is replaced
 * @throws ScenedeltaError 'invalid-request' if the folder's name is not fit for a bundle, or if something is there
 */
export async function checkedOutput(out: string, replace: boolean): Promise<string> {
  const folder = resolve(out);
  const name = basename(folder);
  const refuse = (why: string): ScenedeltaError => invalidRequest(`--out ${out}: ${why}`);
  if (!NAME.test(name)) {
    throw refuse(`the bundle is named like its folder: expected 1 to 64 of a-z, 0-9 and -, and got ${name}`);
  }
  await mkdir(dirname(folder), { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    throw refuse(`its parent folder cannot be made (${error.code})`);
  });
  const { mkdirError } = await mkdir(folder).then(
    () => ({ mkdirError: null }),
    (error: NodeJS.ErrnoException) => ({ mkdirError: error }),
  );
  if (mkdirError === null) await rm(folder, { recursive: true });
  else if (mkdirError.code !== 'EEXIST') {
    throw refuse(`cannot be written (${mkdirError.code})`);
  } else {
    const tuned = (await existing(folder))?.manifest;
    if (tuned?.tuned === undefined) {
      throw refuse('is there already, and is no tuned bundle; expected a new folder, or --replace with a tuned one');
    }
    if (!replace) throw refuse(`has the tuned bundle ${tuned.version}; expected a new folder, or --replace`);
  }
  return folder;
}

const existing = (folder: string): Promise<Bundle | null> =>
  loadBundle(folder).catch((error: unknown) => {
    if (error instanceof BundleError) return null;
    throw error;
  });

/** A bundle that is not in its place yet. */
export interface PendingBundle {
  /** a folder of the bundle's name, in a temporary folder */
  readonly folder: string;
  /** Puts it in place of an earlier one. */
  keep(): Promise<void>;
  discard(): Promise<void>;
}

/**
 * Copies the graphs and writes the manifest.
 * @param out as `checkedOutput` returns it
 * @throws BundleError if the loader refuses the result
 */
export async function writeBundle(source: Bundle, manifest: BundleManifest, out: string): Promise<PendingBundle> {
  const temporary = join(dirname(out), `.${basename(out)}.${randomUUID()}`);
  const folder = join(temporary, basename(out));
  const discard = () => rm(temporary, { recursive: true, force: true });
  try {
    await mkdir(folder, { recursive: true });
    for (const file of Object.keys(manifest.files)) await copyFile(join(source.directory, file), join(folder, file));
    await writeFile(join(folder, MANIFEST_FILE), `${JSON.stringify(manifest, null, 1)}\n`);
    await loadBundle(folder);
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    folder,
    async keep() {
      await rm(out, { recursive: true, force: true });
      await rename(folder, out);
      await discard();
    },
    discard,
  };
}
