/** From a frame's reference to its bytes. What is fetched from outside is stored first, so that a second attempt need not ask again. */
import { createHash } from 'node:crypto';
import type { Config } from '../config.js';
import { ScenedeltaError } from '../errors.js';
import { sniffImage } from '../image-type.js';
import type { Side } from '../images.js';
import type { FrameRef, StoredFrameRef } from '../jobs.js';
import type { OutboundClient } from '../outbound/client.js';
import { type BlobStore, frameKey } from '../stores/blobs.js';
import type { S3Client } from '../stores/s3-client.js';

export interface Frame {
  readonly bytes: Uint8Array;
  readonly ref: StoredFrameRef;
}
/**
 * @throws ScenedeltaError gone (its retention is over), url-refused, url-failed, url-unavailable, payload-too-large,
 * storage-unavailable; each names the side as its field.
 */
export type FetchFrame = (ref: FrameRef, side: Side, signal: AbortSignal) => Promise<Frame>;

export function createFrameFetcher(deps: {
  blobs: BlobStore;
  outbound: OutboundClient;
  s3: S3Client | undefined;
  config: Pick<Config, 'frameLimit'>;
}): FetchFrame {
  const maxBytes = deps.config.frameLimit;

  const fromOutside = async (ref: Exclude<FrameRef, StoredFrameRef>, side: Side, signal: AbortSignal) => {
    if (ref.from === 'url') return deps.outbound.fetchImage(ref.url, { maxBytes, field: side, signal });
    return fromS3(deps.s3, ref, { side, maxBytes, signal });
  };

  return async (ref, side, signal) => {
    if (ref.from === 'stored') {
      const bytes = await deps.blobs.get(frameKey(ref.sha256));
      if (bytes !== undefined) return { bytes, ref };
      throw new ScenedeltaError('gone', `${side}: the frame ${ref.sha256} is no longer stored`, {
        field: side,
      });
    }
    const bytes = await fromOutside(ref, side, signal);
    const contentType = typeOf(bytes, side);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    await deps.blobs.put(frameKey(sha256), bytes);
    return { bytes, ref: { from: 'stored', sha256, bytes: bytes.byteLength, contentType } };
  };
}

/** An address that says "image" and sends something else is the address's failure. */
function typeOf(bytes: Uint8Array, side: Side): string {
  try {
    return sniffImage(bytes, side);
  } catch (thrown) {
    throw asUrlFailure(thrown);
  }
}

/** The frame came from an address: what cannot be decoded was not an image. */
export const asUrlFailure = (thrown: unknown): unknown =>
  thrown instanceof ScenedeltaError && thrown.code === 'image-unreadable'
    ? new ScenedeltaError('url-failed', `the address delivered bytes, but ${thrown.message}`, {
        ...(thrown.field === undefined ? {} : { field: thrown.field }),
        cause: thrown,
      })
    : thrown;

async function fromS3(
  s3: S3Client | undefined,
  { bucket, key }: { bucket: string; key: string },
  { side, ...options }: { side: Side; maxBytes: number; signal: AbortSignal },
): Promise<Uint8Array> {
  const shown = `s3://${bucket}/${key}`;
  if (s3 === undefined) {
    throw new ScenedeltaError('url-refused', `${shown}: this worker has no S3_ENDPOINT`, { field: side });
  }
  try {
    const bytes = await s3.get(bucket, key, options);
    if (bytes === undefined)
      throw new ScenedeltaError('url-failed', `${shown} does not exist`, { field: side });
    return bytes;
  } catch (thrown) {
    if (!(thrown instanceof ScenedeltaError) || thrown.field !== undefined) throw thrown;
    const code = ({ forbidden: 'url-failed', 'storage-unavailable': 'url-unavailable' } as const)[
      thrown.code as string
    ];
    throw new ScenedeltaError(code ?? thrown.code, thrown.message, { field: side, cause: thrown });
  }
}
