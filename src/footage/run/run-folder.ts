/**
 * Folder of a run: the checkpoints and the records of each camera, so that a run that was killed goes on where it
 * stood. Each file is written whole under another name first; the checkpoint comes last and makes a chunk count.
 */
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { invalidRequest, ScenedeltaError } from '../../base/errors.js';
import type { Checkpoint, CheckpointStore, ChunkRecord } from './checkpoint.js';

/** Within the folder of the outputs. It may be deleted when the run is complete. */
export const STATE_FOLDER = '.footage';
const RUN_FILE = 'run.json';
/** Format of the files in the folder. */
const FORMAT = 2;
const CHECKPOINT_FILE = 'checkpoint.json';

export class RunFolder {
  readonly #outputs: string;
  readonly #state: string;

  /** @param outputs folder of the outputs */
  constructor(outputs: string) {
    this.#outputs = outputs;
    this.#state = join(outputs, STATE_FOLDER);
  }

  /**
   * Creates the folder for a run, or finds the run in it.
   * @param fingerprint of the inputs and of all options that change the results
   * @param restart drops an earlier run
   * @returns whether an earlier run goes on
   * @throws ScenedeltaError 'invalid-request' if the folder has the run of other inputs or options, or of a version
   *   with another format; 'storage-unavailable'
   */
  async begin(fingerprint: string, restart: boolean): Promise<boolean> {
    return storageCall(this.#state, async () => {
      if (restart) await rm(this.#state, { recursive: true, force: true });
      const file = join(this.#state, RUN_FILE);
      const found = await readFile(file, 'utf8').catch(missingIsUndefined);
      if (found === undefined) {
        await mkdir(this.#state, { recursive: true });
        await writeDurably(file, `${JSON.stringify({ v: FORMAT, fingerprint })}\n`);
        return false;
      }
      const run = JSON.parse(found) as { readonly v: number; readonly fingerprint: string };
      if (run.v !== FORMAT) {
        throw invalidRequest(
          `${this.#outputs} has a run of another version of scenedelta: expected another -d, or --restart`,
        );
      }
      if (run.fingerprint === fingerprint) return true;
      throw invalidRequest(
        `${this.#outputs} has the run of other inputs, settings or options: expected the same ones, another -d, ` +
          'or --restart',
      );
    });
  }

  /** Folder for copies of objects while they are read. */
  get downloads(): string {
    return join(this.#state, 'downloads');
  }

  /** Checkpoints of one camera. */
  checkpoints(camera: string): CheckpointStore {
    const folder = join(this.#state, 'cameras', camera);
    const blobFolder = join(folder, 'blobs');
    const written = new Set<string>();
    const load: CheckpointStore['load'] = async () => {
      const json = await readFile(join(folder, CHECKPOINT_FILE), 'utf8').catch(missingIsUndefined);
      if (json === undefined) return undefined;
      const blobs = new Map<string, Uint8Array>();
      for (const name of await readdir(blobFolder).catch(() => [])) {
        if (name.endsWith('.tmp')) continue;
        const key = name.replaceAll('+', '/');
        blobs.set(key, await readFile(join(blobFolder, name)));
        written.add(key);
      }
      return { checkpoint: JSON.parse(json) as Checkpoint, blobs };
    };
    return {
      load: () => storageCall(folder, load),
      save: ({ checkpoint, records, pictures, blobs }) =>
        storageCall(folder, async () => {
          await mkdir(blobFolder, { recursive: true });
          if (pictures.length > 0) await mkdir(join(this.#outputs, 'pictures'), { recursive: true });
          for (const { name, bytes } of pictures) await writeDurably(join(this.#outputs, name), bytes);
          for (const [key, bytes] of blobs) {
            if (!written.has(key)) await writeDurably(join(blobFolder, key.replaceAll('/', '+')), bytes);
            written.add(key);
          }
          const lines = records.map((record) => `${JSON.stringify(record)}\n`);
          await writeDurably(join(folder, chunkFile(checkpoint.chunk)), lines.join(''));
          await writeDurably(join(folder, CHECKPOINT_FILE), `${JSON.stringify(checkpoint)}\n`);
          for (const key of written) {
            if (blobs.has(key)) continue;
            await rm(join(blobFolder, key.replaceAll('/', '+')), { force: true });
            written.delete(key);
          }
        }),
    };
  }

  /** All records of a camera's finished chunks, in their order. @param chunks number of finished chunks */
  async *records(camera: string, chunks: number): AsyncGenerator<ChunkRecord> {
    for (let chunk = 1; chunk <= chunks; chunk++) {
      const file = join(this.#state, 'cameras', camera, chunkFile(chunk));
      for await (const line of createInterface({ input: createReadStream(file) })) {
        yield JSON.parse(line) as ChunkRecord;
      }
    }
  }
}

const chunkFile = (chunk: number): string => `chunk-${String(chunk).padStart(6, '0')}.ndjson`;

function missingIsUndefined(thrown: unknown): undefined {
  if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw thrown;
}

async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const unfinished = `${path}.tmp`;
  const file = await open(unfinished, 'w');
  try {
    await file.writeFile(content);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}

/** @throws ScenedeltaError 'storage-unavailable' naming the folder */
async function storageCall<T>(folder: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (thrown instanceof ScenedeltaError || code === undefined) throw thrown;
    const reason = code === 'ENOSPC' || code === 'EDQUOT' ? `the disk is full (${code})` : code;
    const kept = 'what was saved before is kept, and the same command goes on from there';
    throw new ScenedeltaError('storage-unavailable', `${folder}: cannot be written: ${reason}; ${kept}`, {
      cause: thrown,
    });
  }
}
