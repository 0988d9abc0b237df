/** The visits and changes of the paragraph and the crops at the head of a report: the most important ones. Pure. */
import { boxAround } from '../../base/box-around.js';
import type { Box } from '../../base/images.js';
import { SEVERITIES } from '../../schemas/kinds.js';
import type { FootageChange, Moment } from '../records.js';
import type { Recording } from './recording.js';

const MOST = 12;

export interface Highlight {
  /** of the visit or change */
  readonly id: string;
  readonly camera: string;
  readonly caption: string;
  readonly first_seen: Moment;
  /** path of its picture; null: none is kept */
  readonly picture: string | null;
  /** where the picture shows it; null: the whole frame */
  readonly box: Box | null;
  readonly weight: number;
}

/**
 * @param grouped the visit of each change that belongs to one, by their ids
 * @returns the most important first
 */
export function highlightsOf({ visits, changes }: Recording, grouped: ReadonlyMap<string, string>): Highlight[] {
  const followed = visits
    .filter(({ kind }) => kind === 'visit')
    .map(({ id, camera, caption, first_seen, shown, frames }): Highlight => {
      const [picture, box] = [shown?.picture ?? null, shown?.box ?? null];
      // A visit that was seen longer comes first.
      return { id, camera, caption, first_seen, picture, box, weight: SEVERITIES.indexOf('medium') + frames / 1e6 };
    });
  const alone = changes.filter(({ id }) => !grouped.has(id)).map(changeHighlight);
  return [...followed, ...alone].sort((a, b) => b.weight - a.weight).slice(0, MOST);
}

function changeHighlight({
  id,
  camera,
  caption,
  first_seen,
  regions,
  pictures,
  severity,
  kind,
}: FootageChange): Highlight {
  const side = regions.length > 0 && regions.every((region) => region.side === 'before') ? 'before' : 'after';
  const boxes = kind === 'tamper' ? [] : regions.filter((region) => region.side === side).map(({ box }) => box);
  const weight = SEVERITIES.indexOf(severity);
  return { id, camera, caption, first_seen, picture: pictures[side], box: boxAround(boxes), weight };
}
