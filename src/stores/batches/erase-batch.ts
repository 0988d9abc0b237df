/** Erasure of a batch from all stores: its record, uploads, pictures and results. */
import type { BlobStore } from '../../base/blobs.js';
import type { BatchFiles } from './batch-files.js';
import { type BatchStore, batchPrefix } from './batches.js';

interface Stores {
  readonly batches: Pick<BatchStore, 'erase'>;
  readonly files: Pick<BatchFiles, 'erase'>;
  readonly blobs: Pick<BlobStore, 'sweep'>;
}

/** @throws ScenedeltaError 'queue-unavailable', 'storage-unavailable' */
export async function eraseBatch(id: string, { batches, files, blobs }: Stores): Promise<void> {
  await batches.erase(id);
  await files.erase(id);
  await blobs.sweep(batchPrefix(id), Number.MAX_SAFE_INTEGER);
}
