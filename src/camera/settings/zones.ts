/** Filter of a finding by the camera's zones, areas and scores. Pure. */
import type { Box } from '../../base/images.js';
import { overlapOf, type Polygon, polygonArea } from '../../base/polygon.js';
import { unchangedStatement } from '../../language/plain.js';
import { asSentence, textOf, write } from '../../language/write.js';
import type { Finding, Region } from '../../schemas/comparison.js';
import { keepRegions } from '../../schemas/finding.js';
import type { CameraSettings, Zone } from './settings.js';

type FilterSettings = Pick<CameraSettings, 'zones' | 'min_area'>;

/** Share of a box. Regions are coarser than things, so that zones which differ by less cover a box equally. */
const EQUAL_COVER = 0.1;

/**
 * @returns of the zones of these types that cover at least `min_overlap` of the box the one that covers most; of those
 *   that cover it equally the smallest, which is the one inside the others; null without one
 */
export function zoneOf(box: Box, zones: readonly Zone[], types: readonly Zone['type'][]): Zone | null {
  const covering = zones
    .filter(({ type }) => types.includes(type))
    .map((zone) => ({ zone, cover: overlapOf(box, zone.polygon) }))
    .filter(({ zone, cover }) => cover > 0 && cover >= zone.min_overlap);
  const most = Math.max(...covering.map(({ cover }) => cover));
  const [smallest] = covering
    .filter(({ cover }) => cover > most - EQUAL_COVER)
    .map(({ zone }) => ({ zone, area: polygonArea(zone.polygon) }))
    .sort((a, b) => a.area - b.area);
  return smallest?.zone ?? null;
}

interface FilteredFinding {
  readonly finding: Finding;
  /** number of regions that were removed */
  readonly excluded: number;
}

/**
 * Removes the regions that do not count and adds the zone to the others. A change without any counting region becomes
 * 'none'. A change that had no regions stays, because its location is unknown; so does tampering, which concerns the
 * whole frame.
 */
export function filterFinding(finding: Finding, settings: FilterSettings): FilteredFinding {
  if (finding.verdict !== 'change' || finding.regions.length === 0) return { finding, excluded: 0 };
  const counting = keepRegions(finding, (region) => withZone(region, settings));
  const excluded = finding.regions.length - counting.regions.length;
  if (excluded === 0) return { finding: { ...finding, ...counting }, excluded };
  const uncounted = finding.regions.filter((region) => withZone(region, settings) === null).map(({ box }) => box);
  if (counting.regions.length > 0) return { finding: { ...finding, ...counting, uncounted }, excluded };
  const statement = unchangedStatement('excluded');
  const words = asSentence(
    write(statement)
      .split(' ')
      .map((text) => ({ text, score: finding.caption_score })),
  );
  return {
    finding: {
      ...finding,
      verdict: 'none',
      kind: 'none',
      caption: textOf(words),
      words,
      content: { statements: [statement], more: 0 },
      severity: 'info',
      ...counting,
      uncounted,
    },
    excluded,
  };
}

/** @returns the region with its zone; null if it does not count */
function withZone(region: Region, { zones, min_area }: FilterSettings): Region | null {
  if (zoneOf(region.box, zones, ['ignore']) !== null) return null;
  const zone = zoneOf(region.box, zones, ['include']);
  if (zone === null && zones.some(({ type }) => type === 'include')) return null;
  if (region.area < (zone?.min_area ?? min_area) || region.score < (zone?.threshold ?? 0)) return null;
  return zone === null ? region : { ...region, zone: zone.id };
}

/** Polygons of the areas that are painted black before a frame is stored. */
export const privacyPolygons = (zones: readonly Zone[]): Polygon[] =>
  zones.filter(({ type }) => type === 'privacy').map(({ polygon }) => polygon);
