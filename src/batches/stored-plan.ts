/**
 * Plan of one camera of a batch, as blobs. Its files are split, so that no list of a million files is held as one text.
 */
import type { BlobStore } from '../base/blobs.js';
import { ScenedeltaError } from '../base/errors.js';
import type { FootageItem, FootageSequence } from '../footage/inputs/recording-plan.js';
import { batchPrefix } from '../stores/batches/batches.js';

/** Files per blob: a few megabytes of JSON. */
const PART = 20_000;

/** The first blob of a plan. */
interface FirstPart extends FootageSequence {
  /** number of blobs; the others are lists of items */
  readonly parts: number;
}

const planKey = (batch: string, index: number, part: number): string =>
  `${batchPrefix(batch)}/plan-${index}${part === 0 ? '' : `-${part}`}.json`;

/**
 * @param index of the camera in the plan
 * @throws ScenedeltaError 'storage-unavailable'
 */
export async function storePlan(
  batch: string,
  index: number,
  { items, ...sequence }: FootageSequence,
  blobs: Pick<BlobStore, 'put'>,
): Promise<void> {
  const parts = Math.max(1, Math.ceil(items.length / PART));
  // The first part comes last: with it, the others exist.
  for (let part = parts - 1; part >= 0; part--) {
    const some = items.slice(part * PART, (part + 1) * PART);
    const content = part === 0 ? ({ ...sequence, items: some, parts } satisfies FirstPart) : some;
    await blobs.put(planKey(batch, index, part), Buffer.from(JSON.stringify(content)));
  }
}

/** @throws ScenedeltaError 'gone' if retention has removed the plan; 'storage-unavailable' */
export async function loadPlan(batch: string, index: number, blobs: Pick<BlobStore, 'get'>): Promise<FootageSequence> {
  const read = async (part: number): Promise<unknown> => {
    const bytes = await blobs.get(planKey(batch, index, part));
    if (bytes === undefined) throw new ScenedeltaError('gone', `the plan of ${batch} is not stored any more`);
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  };
  const { items: first, parts, ...sequence } = (await read(0)) as FirstPart;
  const items: FootageItem[] = [];
  for (const item of first) items.push(compact(item));
  for (let part = 1; part < parts; part++) {
    for (const item of (await read(part)) as FootageItem[]) items.push(compact(item));
  }
  return { ...sequence, items };
}

/** The name of a file is mostly its address, and one text for both takes half the memory. */
function compact({ kind, file, location, at }: FootageItem): FootageItem {
  const isSame = location.from === 'url' && location.url === file;
  return { kind, file, location: isSame ? { from: 'url', url: file } : location, at };
}
