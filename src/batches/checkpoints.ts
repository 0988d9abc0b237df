/**
 * Checkpoints of a camera of a batch, over the stores. Blobs are written first, and the commit makes them count: blobs
 * of a worker that died are overwritten or swept.
 */
import { createHash } from 'node:crypto';
import type { BlobStore } from '../base/blobs.js';
import { ScenedeltaError } from '../base/errors.js';
import type { Checkpoint, CheckpointStore, ChunkRecord } from '../footage/run/checkpoint.js';
import { type BatchStore, batchPrefix } from '../stores/batches/batches.js';
import type { BatchProgress } from '../stores/batches/progress.js';

/** The batch has ended, or its chunk was committed: by another worker, or by an earlier try that got no answer. */
export class ChunkTaken extends Error {}

interface Stores {
  readonly batches: Pick<BatchStore, 'checkpoint' | 'commit'>;
  readonly blobs: Pick<BlobStore, 'get' | 'put' | 'delete'>;
}

/** Checkpoint with the keys of the frames that the next chunk needs. */
interface Stored {
  readonly checkpoint: Checkpoint;
  readonly blobs: readonly string[];
}

/** @param name of a picture in the records */
export const pictureKey = (batch: string, name: string): string => `${batchPrefix(batch)}/${name}`;

/** @param index of the camera in the plan */
export function batchCheckpoints(batch: string, index: number, { batches, blobs }: Stores): CheckpointStore {
  const prefix = `${batchPrefix(batch)}/${index}`;
  const keyOf = (key: string) => `${prefix}/${key}`;
  let kept = new Set<string>();
  return {
    async load() {
      const stored = await batches.checkpoint(batch, index);
      if (stored === undefined) return undefined;
      const { checkpoint, blobs: keys } = JSON.parse(stored.checkpoint) as Stored;
      const found = new Map<string, Uint8Array>();
      for (const key of keys) found.set(key, await present(keyOf(key), blobs));
      kept = new Set(keys);
      return { checkpoint, blobs: found };
    },
    async save({ checkpoint, records, pictures, blobs: frames }) {
      for (const { name, bytes } of pictures) await blobs.put(pictureKey(batch, name), bytes);
      for (const [key, bytes] of frames) if (!kept.has(key)) await blobs.put(keyOf(key), bytes);
      const lines = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
      // Two workers may hold the camera for a moment, with chunks that end at different frames.
      const hash = createHash('sha256').update(lines).digest('hex').slice(0, 16);
      const blob = `${prefix}/chunks/${String(checkpoint.chunk).padStart(6, '0')}-${hash}`;
      await blobs.put(blob, lines);
      const stored: Stored = { checkpoint, blobs: [...frames.keys()] };
      const committed = await batches.commit(batch, index, {
        chunk: checkpoint.chunk,
        blob,
        checkpoint: JSON.stringify(stored),
        progress: progressOf(checkpoint),
      });
      if (!committed) throw new ChunkTaken();
      const dropped = [...kept].filter((key) => !frames.has(key));
      kept = new Set(frames.keys());
      for (const key of dropped) await blobs.delete(keyOf(key));
    },
  };
}

/** All records of a camera's finished chunks. */
export async function* batchRecords(
  batch: string,
  index: number,
  { batches, blobs }: Stores,
): AsyncGenerator<ChunkRecord> {
  for (const key of (await batches.checkpoint(batch, index))?.chunks ?? []) {
    const text = Buffer.from(await present(key, blobs)).toString();
    for (const line of text.split('\n')) if (line !== '') yield JSON.parse(line) as ChunkRecord;
  }
}

export async function readCheckpoint(batch: string, index: number, { batches }: Pick<Stores, 'batches'>) {
  const stored = await batches.checkpoint(batch, index);
  return stored && (JSON.parse(stored.checkpoint) as Stored).checkpoint;
}

function progressOf({ counts, position, done }: Checkpoint): BatchProgress {
  const reached = position.at === null ? null : new Date(position.at).toISOString();
  return { reached, done, ...counts };
}

async function present(key: string, blobs: Pick<BlobStore, 'get'>): Promise<Uint8Array> {
  const bytes = await blobs.get(key);
  if (bytes !== undefined) return bytes;
  throw new ScenedeltaError('gone', `${key} is not stored any more`);
}
