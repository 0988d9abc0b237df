/** Crops of things for the page and the mail of a brief, which hold their pictures. */
import type { BlobStore } from '../base/blobs.js';
import { ScenedeltaError } from '../base/errors.js';
import type { DecodeLimits } from '../frames/header.js';
import type { FrameKeeper } from '../frames/keep.js';
import { type Masks, servedFrame } from '../frames/served-frame.js';
import { thumbnail } from '../frames/thumbnail.js';
import type { BriefShown } from '../schemas/brief.js';
import type { ResultStore } from '../stores/comparisons/results.js';

/** px of the longer side: a third of a page, with two device pixels per pixel */
const LONGEST_SIDE = 360;

interface CropDependencies {
  readonly results: Pick<ResultStore, 'get'>;
  readonly blobs: Pick<BlobStore, 'get'>;
  readonly cameras: Masks;
  readonly keeper: Pick<FrameKeeper, 'shown'>;
  readonly decodeLimits: Pick<DecodeLimits, 'pixelLimit' | 'decodeTimeout'>;
}

/** @returns a JPEG; undefined if the frame is not kept or cannot be read. Fails if a store cannot be reached */
export type CropOf = (shown: BriefShown) => Promise<Buffer | undefined>;

export function createCrops({ results, keeper, decodeLimits, ...deps }: CropDependencies): CropOf {
  const { pixelLimit, decodeTimeout } = decodeLimits;
  return async ({ comparison, side, box }) => {
    const stored = await results.get(comparison);
    const frame = stored && (await servedFrame(stored, side, deps, keeper));
    const bytes = await frame?.bytes();
    if (bytes === undefined) return undefined;
    const limits = { pixelLimit, decodeTimeout, field: side, longest: LONGEST_SIDE };
    return thumbnail(bytes, { ...limits, around: box ?? undefined }).catch((error: unknown) => {
      if (error instanceof ScenedeltaError) return undefined;
      throw error;
    });
  };
}
