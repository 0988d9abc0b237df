/** The things that the head of a report shows as crops, and tells: the most important visits and changes. Pure. */
import { boxAround } from '../../base/box-around.js';
import type { Box } from '../../base/images.js';
import { SEVERITIES } from '../../schemas/comparison.js';
import type { FootageChange, Moment } from '../records.js';
import type { Recording } from './recording.js';

const MOST = 12;

export interface Told {
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
 * @param grouped ids of the changes that belong to a visit
 * @returns the most important first
 */
export function toldOf({ visits, changes }: Recording, grouped: ReadonlySet<string>): Told[] {
  const followed = visits
    .filter(({ kind }) => kind === 'visit')
    .map(({ id, camera, caption, first_seen, shown, frames }): Told => {
      const [picture, box] = [shown?.picture ?? null, shown?.box ?? null];
      // Of equal severity, what was seen longer is told first.
      return { id, camera, caption, first_seen, picture, box, weight: SEVERITIES.indexOf('medium') + frames / 1e6 };
    });
  const alone = changes.filter(({ id }) => !grouped.has(id)).map(toldChange);
  return [...followed, ...alone].sort((a, b) => b.weight - a.weight).slice(0, MOST);
}

function toldChange({ id, camera, caption, first_seen, regions, pictures, severity, kind }: FootageChange): Told {
  const side = regions.length > 0 && regions.every((region) => region.side === 'before') ? 'before' : 'after';
  const boxes = kind === 'tamper' ? [] : regions.filter((region) => region.side === side).map(({ box }) => box);
  const weight = SEVERITIES.indexOf(severity);
  return { id, camera, caption, first_seen, picture: pictures[side], box: boxAround(boxes), weight };
}
