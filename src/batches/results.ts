/** Results of a batch: the outputs of its recording, kept as blobs. */
import type { BlobStore } from '../base/blobs.js';
import { outputFiles } from '../footage/outputs/files.js';
import { ndjson } from '../footage/outputs/json.js';
import type { Checkpoint } from '../footage/run/checkpoint.js';
import { initialCheckpoint } from '../footage/run/checkpoint.js';
import { type FinishedRun, gatherResults, statsOf } from '../footage/run/results.js';
import type { Config } from '../process/config.js';
import { type BatchRecord, type BatchStore, batchResultKey, plannedSettings } from '../stores/batches/batches.js';
import { batchRecords, pictureKey, readCheckpoint } from './checkpoints.js';

interface Dependencies {
  readonly batches: Pick<BatchStore, 'checkpoint' | 'commit'>;
  readonly blobs: BlobStore;
  readonly config: Pick<Config, 'defaultModel'>;
}

/** Writes every output. The same chunks give the same bytes. */
export async function writeBatchResults(batch: BatchRecord, deps: Dependencies): Promise<void> {
  const { id, plan } = batch;
  const { mergeWindow } = batch.request;
  const indices = new Map((plan?.cameras ?? []).map(({ camera }, i) => [camera, i]));
  const cameras: { camera: string; checkpoint: Checkpoint }[] = [];
  for (const [camera, index] of indices) {
    cameras.push({ camera, checkpoint: (await readCheckpoint(id, index, deps)) ?? initialCheckpoint() });
  }
  const run: FinishedRun = {
    records: (camera) => batchRecords(id, indices.get(camera) as number, deps),
    settings: (camera) => plannedSettings(batch, indices.get(camera) as number),
    cameras,
    failures: (plan?.failures ?? []).map((failure) => ({ v: 1, seconds: null, ...failure })),
    warnings: plan?.warnings ?? [],
    mergeWindowMs: mergeWindow === null ? null : mergeWindow * 1000,
  };
  // The largest output is written before the records of the others are gathered in memory.
  await deps.blobs.put(batchResultKey(id, 'stats.ndjson'), await bytesOf(ndjson(statsOf(run))));
  const readPicture = async (name: string) => (await deps.blobs.get(pictureKey(id, name))) ?? null;
  const recording = await gatherResults(run);
  const captions: { name: string; video: string }[] = [];
  for (const { name, video, content } of outputFiles(recording, { readPicture })) {
    // The names of videos have any characters, and the keys of blobs few.
    const key = video === undefined ? name : `vtt-${captions.push({ name, video })}`;
    await deps.blobs.put(batchResultKey(id, key), await bytesOf(content()));
  }
  await deps.blobs.put(batchResultKey(id, 'vtt.json'), Buffer.from(JSON.stringify(captions)));
}

/** Bytes of an output when it is begun; it doubles whenever it is full. */
const FIRST_BYTES = 64 * 1024;

/** One growing buffer: a list of the parts would take several times the memory of a text of many short lines. */
async function bytesOf(parts: Iterable<string> | AsyncIterable<string>): Promise<Uint8Array> {
  let bytes = Buffer.alloc(FIRST_BYTES);
  let length = 0;
  for await (const part of parts) {
    const needed = length + Buffer.byteLength(part);
    if (needed > bytes.length) {
      const larger = Buffer.alloc(Math.max(needed, 2 * bytes.length));
      bytes.copy(larger, 0, 0, length);
      bytes = larger;
    }
    length += bytes.write(part, length);
  }
  return bytes.subarray(0, length);
}
