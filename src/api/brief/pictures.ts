/** Crops of things for the page of a brief, which holds its pictures. */
import { ScenedeltaError } from '../../base/errors.js';
import { servedFrame } from '../../frames/served-frame.js';
import { thumbnail } from '../../frames/thumbnail.js';
import type { RouteContext } from '../routes/context.js';
import type { Highlight } from './summary.js';

/** px of the longer side: a third of a page, with two device pixels per pixel */
const LONGEST_SIDE = 360;

export function createCrops({ results, keeper, options, ...deps }: RouteContext) {
  const { pixelLimit, decodeTimeout } = options;
  /** @returns a JPEG; undefined if the frame is not kept or cannot be read. @throws if a store cannot be reached */
  return async ({ comparison, side, box }: Highlight['picture']): Promise<Buffer | undefined> => {
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
