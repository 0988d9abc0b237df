/**
 * From a frame's reference to its bytes, masked as its camera asks for it. What is fetched from outside is masked, then stored, so that
 * a second attempt need not ask again.
 */
import { createHash } from 'node:crypto';
import type { Config } from '../config.js';
import { ScenedeltaError } from '../errors.js';
import type { OutboundClient } from '../outbound/client.js';
import type { FrameRef, StoredFrameRef } from '../schemas/frame-ref.js';
import { type BlobStore, frameKey } from '../stores/blobs.js';
import type { PrivacyMask } from '../stores/cameras.js';
import type { S3Client } from '../stores/s3-client.js';
import { sniffImage } from './image-type.js';
import { maskFrame } from './privacy-mask.js';

export interface Frame {
  readonly bytes: Uint8Array;
  readonly ref: StoredFrameRef;
}
export interface FetchOptions {
  /** which frame it is, for messages: before, after or frame */
  readonly field: string;
  readonly signal: AbortSignal;
  /** null: nothing is painted */
  readonly mask: PrivacyMask | null;
}
/**
 * @returns the frame; its reference is the given one, unless it had to be fetched or masked.
 * @throws ScenedeltaError gone (its retention is over), url-refused, url-failed, url-unavailable, payload-too-large, image-unreadable,
 * image-too-large, storage-unavailable; each names the field.
 */
export type FetchFrame = (ref: FrameRef, options: FetchOptions) => Promise<Frame>;

export function createFrameFetcher(deps: {
  blobs: BlobStore;
  outbound: OutboundClient;
  s3: S3Client | undefined;
  config: Pick<Config, 'frameLimit' | 'pixelLimit'>;
}): FetchFrame {
  const { blobs } = deps;
  const { frameLimit: maxBytes, pixelLimit } = deps.config;

  const fromOutside = async (ref: Exclude<FrameRef, StoredFrameRef>, { field, signal }: FetchOptions) => {
    if (ref.from === 'url') return deps.outbound.fetchImage(ref.url, { maxBytes, field, signal });
    return fromS3(deps.s3, ref, { field, maxBytes, signal });
  };

  const fromStore = async (ref: StoredFrameRef, field: string) => {
    const bytes = await blobs.get(frameKey(ref.sha256));
    if (bytes !== undefined) return bytes;
    throw new ScenedeltaError('gone', `${field}: the frame ${ref.sha256} is no longer stored`, { field });
  };

  return async (ref, options) => {
    const { field, mask } = options;
    const stored = ref.from === 'stored';
    const came = stored ? await fromStore(ref, field) : await fromOutside(ref, options);
    if (stored && (mask === null || mask.id === ref.mask)) return { bytes: came, ref };
    const type = typeOf(came, field);
    if (mask === null) return storeFrame(blobs, came, type);
    const masked = await maskFrame(came, mask.polygons, { pixelLimit, field }).catch((thrown) => {
      throw stored ? thrown : asUrlFailure(thrown);
    });
    return storeFrame(blobs, masked, 'image/jpeg', mask.id);
  };
}

/** @param mask id of what is painted on the bytes */
export async function storeFrame(
  blobs: Pick<BlobStore, 'put'>,
  bytes: Uint8Array,
  contentType: string,
  mask?: string,
): Promise<Frame> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await blobs.put(frameKey(sha256), bytes);
  const masked = mask === undefined ? {} : { mask };
  return { bytes, ref: { from: 'stored', sha256, bytes: bytes.byteLength, contentType, ...masked } };
}

/** An address that says "image" and sends something else is the address's failure. */
function typeOf(bytes: Uint8Array, field: string): string {
  try {
    return sniffImage(bytes, field);
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
  { field, ...options }: { field: string; maxBytes: number; signal: AbortSignal },
): Promise<Uint8Array> {
  const shown = `s3://${bucket}/${key}`;
  if (s3 === undefined) {
    throw new ScenedeltaError('url-refused', `${shown}: this worker has no S3_ENDPOINT`, { field });
  }
  try {
    const bytes = await s3.get(bucket, key, options);
    if (bytes === undefined) throw new ScenedeltaError('url-failed', `${shown} does not exist`, { field });
    return bytes;
  } catch (thrown) {
    if (!(thrown instanceof ScenedeltaError) || thrown.field !== undefined) throw thrown;
    const code = ({ forbidden: 'url-failed', 'storage-unavailable': 'url-unavailable' } as const)[
      thrown.code as string
    ];
    throw new ScenedeltaError(code ?? thrown.code, thrown.message, { field, cause: thrown });
  }
}
