/**
 * Presenter: a stored comparison with rounded figures and links to its frames and heatmaps, signed if API keys are
 * required.
 */
import { SIDES, type Side } from '../../base/images.js';
import type { Comparison, ComparisonRecord } from '../../schemas/comparison.js';
import { answered, sidesOf } from '../../schemas/finding.js';
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
/** @param lasting whether links open as long as the pictures are kept, as those of webhooks */
export type Present = (comparison: ComparisonRecord, lasting?: boolean) => Comparison;
/**
 * @param expiresAt epoch ms; absent: in an hour
 * @returns the absolute address of a path, signed if API keys are required
 */
export type Link = (path: string, expiresAt?: number) => { url: string };

export const createLink =
  ({ baseUrl, linkKey, clock }: LinkOptions): Link =>
  (path, expiresAt = clock() + LINK_LIFETIME_MS) => ({
    url: baseUrl() + (linkKey === null ? path : signLink(path, { key: linkKey, expiresAt })),
  });

/** @param retention time for which the pictures of an ended comparison are kept */
export function createPresenter(
  link: Link,
  { framesMs, heatmapsMs }: { readonly framesMs: number; readonly heatmapsMs: number },
): Present {
  return (comparison, lasting = false) => {
    const { id, status, model, created_at, finished_at } = comparison;
    const endOf = (keptMs: number) => (lasting ? Date.parse(finished_at ?? created_at) + keptMs : undefined);
    const links = (pathOf: typeof framePath, sides: readonly Side[], keptMs: number) =>
      Object.fromEntries(sides.map((side) => [side, link(pathOf(id, side), endOf(keptMs))])) as Record<
        Side,
        { url: string }
      >;
    return {
      ...roundFigures(answered(comparison)),
      frames: links(framePath, sidesOf(comparison), framesMs),
      // Without a model (identical frames) there are no maps.
      ...(status === 'finished' && model != null ? { heatmaps: links(heatmapPath, SIDES, heatmapsMs) } : {}),
    };
  };
}
