/** What of a finding counts on this camera: its zones, areas and scores. Pure. */

import type { Box } from '../images.js';
import type { Finding, Region } from '../schemas/comparison.js';
import { overlapOf, type Polygon } from './polygon.js';
import type { CameraSettings, Zone } from './settings.js';

/** Said in place of a caption that speaks of what does not count. */
const NOTHING_COUNTS = 'nothing that counts has changed';

/** The zone of one of these types that covers most of the box, and at least its own `min_overlap` of it. */
export function zoneOf(box: Box, zones: readonly Zone[], types: readonly Zone['type'][]): Zone | null {
  let best: Zone | null = null;
  let most = 0;
  for (const zone of zones) {
    if (!types.includes(zone.type)) continue;
    const overlap = overlapOf(box, zone.polygon);
    if (overlap >= zone.min_overlap && overlap > most) {
      best = zone;
      most = overlap;
    }
  }
  return best;
}

export interface FilteredFinding {
  readonly finding: Finding;
  /** regions that were found and do not count */
  readonly leftOut: number;
}

/**
 * Leaves out the regions that do not count and names the zone of the others. A change of which no region counts is none; one
 * without any region stays, because nobody knows where it is. Tampering is of the whole frame and is not sifted.
 */
export function filterFinding(
  finding: Finding,
  settings: Pick<CameraSettings, 'zones' | 'min_area'>,
): FilteredFinding {
  if (finding.verdict !== 'change' || finding.regions.length === 0) return { finding, leftOut: 0 };
  const counting = finding.regions.flatMap((region) => counted(region, settings));
  const leftOut = finding.regions.length - counting.length;
  if (counting.length > 0) {
    const regions = counting.map((region, i) => ({ ...region, id: i + 1 }));
    return { finding: { ...finding, regions }, leftOut };
  }
  const score = finding.caption_score;
  return {
    finding: {
      ...finding,
      verdict: 'none',
      kind: 'none',
      caption: NOTHING_COUNTS,
      words: NOTHING_COUNTS.split(' ').map((text) => ({ text, score })),
      severity: 'info',
      regions: [],
    },
    leftOut,
  };
}

/** The region with its zone, or nothing. */
function counted(region: Region, { zones, min_area }: Pick<CameraSettings, 'zones' | 'min_area'>): Region[] {
  if (zoneOf(region.box, zones, ['ignore']) !== null) return [];
  const zone = zoneOf(region.box, zones, ['include']);
  if (zone === null && zones.some(({ type }) => type === 'include')) return [];
  if (region.area < (zone?.min_area ?? min_area) || region.score < (zone?.threshold ?? 0)) return [];
  return [zone === null ? region : { ...region, zone: zone.id }];
}

/** The polygons that are painted black before anything reads a frame. */
export const privacyPolygons = (zones: readonly Zone[]): Polygon[] =>
  zones.filter(({ type }) => type === 'privacy').map(({ polygon }) => polygon);
