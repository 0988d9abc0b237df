/** A stored comparison as it is answered: with links to its frames and heatmaps, signed where keys are asked for. */

import { SIDES, type Side } from '../../images.js';
import { framePath, heatmapPath, signLink } from '../../links.js';
import type { Comparison } from '../../schemas/comparison.js';

/** Links in answers are for the moment: a page that shows pictures, a person who opens one. */
const LINK_LIFETIME_MS = 3_600_000;

export interface LinkOptions {
  /** e.g. 'http://127.0.0.1:8080', without a slash at the end; asked each time, because a free port is known only then */
  readonly baseUrl: () => string;
  /** null: no keys are asked for, so links need no signature */
  readonly linkKey: Buffer | null;
  readonly clock: () => number;
}
export type Present = (comparison: Comparison) => Comparison;

export function createPresenter(options: LinkOptions): Present {
  const link = (path: string) => {
    const expiresAt = options.clock() + LINK_LIFETIME_MS;
    const signed = options.linkKey === null ? path : signLink(path, { key: options.linkKey, expiresAt });
    return { url: options.baseUrl() + signed };
  };
  const links = (pathOf: (id: string, side: Side) => string, id: string) =>
    Object.fromEntries(SIDES.map((side) => [side, link(pathOf(id, side))])) as Record<Side, { url: string }>;
  return (comparison) => ({
    ...comparison,
    frames: links(framePath, comparison.id),
    // where no model looked at the frames (they were identical), there are no maps
    ...(comparison.status === 'finished' && comparison.model != null
      ? { heatmaps: links(heatmapPath, comparison.id) }
      : {}),
  });
}
