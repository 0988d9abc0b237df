/**
 * The sentence of a change in the words of the camera's zones: the zone's name is written instead of the statement's
 * own phrase ("in loading bay 2", not "on the left"). A sentence of another grammar stays unchanged. Pure.
 */
import { statementOf } from '../../language/read-clauses.js';
import { type Caption, write } from '../../language/write.js';
import type { ChangeRegion } from '../../schemas/change.js';
import type { ChangeKind } from '../../schemas/kinds.js';
import type { ZonePhrase } from '../settings/zone-phrase.js';

type Regions = readonly ChangeRegion[];
/** Per id of a zone that has a name. */
export type ZonePhrases = Readonly<Record<string, ZonePhrase>>;

/** The zone of a change: that of its strongest region that lies in one. */
export const zoneOfRegions = (regions: Regions): string | null =>
  regions.find(({ zone }) => zone !== null)?.zone ?? null;

/**
 * A thing that moved between two zones "has moved from loading bay 2 to the gate"; within one zone the way stays: "has
 * moved to the left in loading bay 2".
 * @param caption a statement about these regions
 * @param regions of the change, the strongest first
 */
export function namePlaces(caption: Caption, kind: ChangeKind, regions: Regions, phrases: ZonePhrases): string {
  const statement = statementOf(caption);
  if (statement === null) return write(caption);
  const phraseOf = (some: Regions): ZonePhrase | undefined => {
    const zone = zoneOfRegions(some);
    // Inherited properties do not count: the id of a zone may be "constructor".
    return zone !== null && Object.hasOwn(phrases, zone) ? phrases[zone] : undefined;
  };
  if (statement.kind !== 'move' || kind !== 'move') return write(statement, { place: phraseOf(regions)?.at });
  const [from, to] = (['before', 'after'] as const).map((side) => phraseOf(regions.filter((one) => one.side === side)));
  const place = from?.at === to?.at ? from?.at : { from: from?.end, to: to?.end };
  return write(statement, { place });
}
