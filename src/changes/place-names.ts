/**
 * The sentence of a change in the words of the camera's zones: the zone's name takes the place of the model's own
 * place phrase ("on the left" -> "in loading bay 2"). A sentence of unknown form stays as it is. Pure.
 */
import type { ZonePhrase } from '../cameras/zone-phrase.js';
import { type Clause, clausesOf } from '../model/clauses.js';
import type { ChangeKind, ChangeRegion } from '../schemas/change.js';

type Kind = NonNullable<Clause['kind']>;
type Regions = readonly ChangeRegion[];
/** Per id of a zone that has a name. */
export type ZonePhrases = Readonly<Record<string, ZonePhrase>>;

/** Per kind the forms of a clause: the words before its place, and the words after it. The first that fits counts. */
const FORMS: Readonly<Record<Kind, readonly RegExp[]>> = {
  replace: [/^(.+?)( (?:instead of|(?:has|have) been replaced by) .+)$/, /^(.+)()$/],
  disappear: [/^(.+?)( (?:(?:is|are) (?:gone|no longer there)|(?:has|have) (?:left|disappeared|been removed)))(?= |$)/],
  appear: [/^(there (?:is|are) .+)( now)$/, /^(.+)()$/],
  move: [/^(.+)()$/],
};
const PREPOSITIONS = ['on', 'in', 'at', 'by', 'near', 'behind', 'beside', 'next to', 'in front of'];
/** Of a place phrase: "in front of the lamp post". A longer text is no place alone. */
const MOST_WORDS = 6;
/** A sentence of the service, without a verb that the grammar knows for "replaced". */
const PLAIN = /^something has /;
const DIRECTION = / (?:(?:slightly )?to the (?:left|right)|closer|further away|(?:towards|away from) the camera)$/;

/** The zone of a change: that of its strongest region that lies in one. */
export const zoneOfRegions = (regions: Regions): string | null =>
  regions.find(({ zone }) => zone !== null)?.zone ?? null;

/**
 * A thing that moved between two zones "has moved from loading bay 2 to the gate"; within one zone the way stays: "has
 * moved to the left in loading bay 2".
 * @param caption one clause about these regions
 * @param regions of the change, the strongest first
 */
export function namePlaces(caption: string, kind: ChangeKind, regions: Regions, phrases: ZonePhrases): string {
  const phraseOf = (some: Regions): ZonePhrase | undefined => {
    const zone = zoneOfRegions(some);
    // Own properties alone: the id of a zone may be "constructor".
    return zone !== null && Object.hasOwn(phrases, zone) ? phrases[zone] : undefined;
  };
  const [clause, ...others] = clausesOf(caption.split(' '));
  const stated = clause?.kind ?? (PLAIN.test(caption) ? 'replace' : undefined);
  if (stated === undefined || others.length > 0) return caption;
  if (stated !== 'move' || kind !== 'move') return withPlace(caption, stated, phraseOf(regions)?.at);
  const ends = (['before', 'after'] as const).map((side) => phraseOf(regions.filter((one) => one.side === side)));
  const [from, to] = ends;
  if (from?.at === to?.at) return withPlace(caption, 'move', from?.at);
  const way = [from && `from ${from.end}`, to && `to ${to.end}`].filter((part) => part !== undefined).join(' ');
  return withPlace(caption.replace(DIRECTION, ''), 'move', way);
}

/** @param place undefined: the clause keeps its own */
function withPlace(clause: string, kind: Kind, place: string | undefined): string {
  const form = FORMS[kind].find((one) => one.test(clause));
  const [, before, after] = form?.exec(clause) ?? [];
  if (place === undefined || before === undefined) return clause;
  return `${withoutPlace(before)} ${place}${after ?? ''}`;
}

/** The clause without the place phrase that it ends with. */
function withoutPlace(text: string): string {
  const start = Math.max(...PREPOSITIONS.map((preposition) => text.lastIndexOf(` ${preposition} the `)));
  return start < 0 || text.slice(start + 1).split(' ').length > MOST_WORDS ? text : text.slice(0, start);
}
