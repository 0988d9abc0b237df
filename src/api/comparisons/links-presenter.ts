/**
 * Presenter: a stored comparison with rounded figures and links to its frames and heatmaps, signed if API keys are
 * required.
 */
import { SIDES, type Side } from '../../base/images.js';
import { type Comparison, sidesOf } from '../../schemas/comparison.js';
import { roundFigures } from '../../schemas/rounding.js';
import { framePath, heatmapPath, signLink } from '../../secrets/links.js';

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
/** @returns the absolute address of a path, signed if API keys are required */
export type Link = (path: string) => { url: string };

export const createLink =
  ({ baseUrl, linkKey, clock }: LinkOptions): Link =>
  (path) => {
    const expiresAt = clock() + LINK_LIFETIME_MS;
    return { url: baseUrl() + (linkKey === null ? path : signLink(path, { key: linkKey, expiresAt })) };
  };

export function createPresenter(link: Link): Present {
  const links = (pathOf: (id: string, side: Side) => string, id: string, sides: readonly Side[]) =>
    Object.fromEntries(sides.map((side) => [side, link(pathOf(id, side))])) as Record<Side, { url: string }>;
  return (comparison) => ({
    ...roundFigures(comparison),
    frames: links(framePath, comparison.id, sidesOf(comparison)),
    // Without a model (identical frames) there are no maps.
    ...(comparison.status === 'finished' && comparison.model != null
      ? { heatmaps: links(heatmapPath, comparison.id, SIDES) }
      : {}),
  });
}
