/**
 * Fetcher of frames: from a reference to bytes, masked as the camera requires. A frame from outside is masked, then
 * stored, so that a second attempt of the job need not fetch it again.
 */
import { type BlobStore, frameKey } from '../base/blobs.js';
import { ScenedeltaError, urlFailed } from '../base/errors.js';
import { sniffImage } from '../base/image-type.js';
import type { PrivacyMask } from '../base/privacy-mask.js';
import type { OutboundClient } from '../outbound/client.js';
import type { Config } from '../process/config.js';
import type { FrameRef, StoredFrameRef } from '../schemas/frame-ref.js';
import type { Login } from '../secrets/login.js';
import type { DecodeLimits } from './header.js';
import { type StoredFrame, storeFrame } from './keep.js';
import { maskedFrame } from './privacy-mask.js';

interface FetchOptions {
  /** name of the frame in errors: before, after or frame */
  readonly field: string;
  readonly signal: AbortSignal;
  /** null = nothing is painted */
  readonly mask: PrivacyMask | null;
  /** of the camera that the address belongs to */
  readonly login?: Login | undefined;
  /** certificate that its host may have; absent: the address has no setting for it */
  readonly certificate?: string | null;
}
/**
 * @returns the frame; its reference is the given one, unless the frame had to be fetched or masked
 * @throws ScenedeltaError gone (its retention is over), url-refused, url-failed, url-unavailable, payload-too-large,
 *   image-unreadable, image-too-large, storage-unavailable; each with the field
 */
export type FetchFrame = (ref: FrameRef, options: FetchOptions) => Promise<StoredFrame>;

interface BucketReader {
  /** @returns undefined if the object does not exist */
  get(
    bucket: string,
    key: string,
    options: { readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<Uint8Array | undefined>;
}

export function createFrameFetcher(deps: {
  blobs: Pick<BlobStore, 'get' | 'put'>;
  outbound: Pick<OutboundClient, 'fetchImage'>;
  s3: BucketReader | undefined;
  config: Pick<Config, 'frameLimit'> & DecodeLimits;
}): FetchFrame {
  const { blobs } = deps;
  const { frameLimit: maxBytes, pixelLimit, decodeTimeout } = deps.config;

  const fromOutside = async (ref: Exclude<FrameRef, StoredFrameRef>, options: FetchOptions) => {
    const { field, signal, login, certificate } = options;
    if (ref.from === 'url') return deps.outbound.fetchImage(ref.url, { maxBytes, field, signal, login, certificate });
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
    const fetched = stored ? await fromStore(ref, field) : await fromOutside(ref, options);
    if (stored && (mask === null || mask.id === ref.mask)) return { bytes: fetched, ref };
    const contentType = typeOf(fetched, field);
    if (mask === null) return storeFrame(blobs, { bytes: fetched, contentType });
    const masked = await maskedFrame(fetched, mask, { pixelLimit, decodeTimeout, field }).catch((thrown) => {
      throw stored ? thrown : asUrlFailure(thrown);
    });
    return storeFrame(blobs, masked);
  };
}

/** @throws ScenedeltaError url-failed, because the frame's address delivered something else than an image */
function typeOf(bytes: Uint8Array, field: string): string {
  try {
    return sniffImage(bytes, field);
  } catch (thrown) {
    throw asUrlFailure(thrown);
  }
}

/** Makes image-unreadable a url-failed: bytes from an address that cannot be decoded are a failure of that address. */
export const asUrlFailure = (thrown: unknown): unknown =>
  thrown instanceof ScenedeltaError && thrown.code === 'image-unreadable'
    ? new ScenedeltaError('url-failed', `the address delivered bytes, but ${thrown.message}`, {
        ...(thrown.field === undefined ? {} : { field: thrown.field }),
        cause: thrown,
      })
    : thrown;

async function fromS3(
  s3: BucketReader | undefined,
  { bucket, key }: { bucket: string; key: string },
  { field, ...options }: { field: string; maxBytes: number; signal: AbortSignal },
): Promise<Uint8Array> {
  const shown = `s3://${bucket}/${key}`;
  if (s3 === undefined) {
    throw new ScenedeltaError('url-refused', `${shown}: this worker has no S3_ENDPOINT`, { field });
  }
  try {
    const bytes = await s3.get(bucket, key, options);
    if (bytes === undefined) throw urlFailed(`${shown} does not exist`, field);
    return bytes;
  } catch (thrown) {
    if (!(thrown instanceof ScenedeltaError) || thrown.field !== undefined) throw thrown;
    throw new ScenedeltaError(thrown.code, thrown.message, { field, cause: thrown });
  }
}
