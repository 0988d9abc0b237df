/**
 * Presenter: a stored comparison with rounded figures and links to its frames and heatmaps, signed if API keys are
 * required.
 */
import { SIDES, type Side } from '../../images.js';
import { framePath, heatmapPath, signLink } from '../../links.js';
import type { Comparison } from '../../schemas/comparison.js';
import { roundFigures } from '../../schemas/rounding.js';

/** Links in answers serve immediate use, such as a page that shows the pictures. */
const LINK_LIFETIME_MS = 3_600_000;

export interface LinkOptions {
  /** @returns e.g. 'http://127.0.0.1:8080', without a trailing slash; a function, because PORT=0 is known only later */
  readonly baseUrl: () => string;
  /** null if API keys are off: links then need no signature */
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
    ...roundFigures(comparison),
    frames: links(framePath, comparison.id),
    // Without a model (identical frames) there are no maps.
    ...(comparison.status === 'finished' && comparison.model != null
      ? { heatmaps: links(heatmapPath, comparison.id) }
      : {}),
  });
}
