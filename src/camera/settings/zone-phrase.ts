/** How a sentence calls a zone: its name, with a preposition before it. Pure. */
import type { Zone } from './settings.js';

/** A zone's name in its two places in a sentence. */
export interface ZonePhrase {
  /** after a verb or a thing: "in loading bay 2" */
  readonly at: string;
  /** after "from" and "to": "loading bay 2" */
  readonly end: string;
}

/** Head nouns of names that take another preposition than "in". */
const ON = new Set(
  (
    'balcony beach bridge court deck driveway drive field floor footpath grass highway lawn motorway path pavement ' +
    'pitch platform porch promenade quay ramp road roof runway shelf sidewalk stage staircase stairs steps street ' +
    'table taxiway terrace track tracks verge walkway'
  ).split(' '),
);
const AT = new Set(
  (
    'barrier bench checkout corner counter crossing desk door doors doorway edge entrance entry exit fence front gate ' +
    'gates hydrant intersection junction kiosk ladder letterbox lift mailbox meter post pump reception roundabout ' +
    'shutter shutters sign station stop till turnstile turnstiles wall window windows'
  ).split(' '),
);
/** With the prepositions that need no "from" or "to" of their own. */
const SIMPLE = /^(?:in(?! front of\b)|on(?! top of\b)|at) /;
const PREPOSITION = new RegExp(
  '^(?:in front of|on top of|next to|close to|in|on|at|by|near|behind|under|underneath|below|above|over|beside|' +
    'beyond|between|inside|outside|within|along|across|around|opposite|against|among)(?= |$)',
  'i',
);
/** Words that follow the head noun: "gate to the yard", "entrance north", "platform 3b". */
const AFTER_HEAD = / (?:of|to|by|near|at|in|on|behind|with|from|for|under|beside|next|opposite) .*$/;
const NO_HEAD = /^(?:[a-z]?\d+[a-z]?|[a-z]|[ivx]+|north|south|east|west|left|right|upper|lower|new|old)$/;

/**
 * The name is used as it is written, articles and capital letters included. Its preposition is, in this order: that of
 * the zone; one that the name begins with; "on" or "at" if the head noun of the name takes it; otherwise "in".
 * @returns null if the zone has no name with a letter or a digit
 */
export function zonePhrase(zone: Pick<Zone, 'name' | 'preposition'>): ZonePhrase | null {
  const name = (zone.name ?? '').replace(/\s+/g, ' ').trim();
  if (!/[\p{L}\p{N}]/u.test(name)) return null;
  const { preposition } = zone;
  if (preposition === '') return { at: name, end: name };
  const begins = preposition === null ? PREPOSITION.exec(name)?.[0] : undefined;
  const at =
    begins === undefined
      ? `${preposition ?? prepositionFor(name)} ${name}`
      : // Only the preposition is not a part of the name, so it has no capital letter within a sentence.
        begins.toLowerCase() + name.slice(begins.length);
  return { at, end: at.replace(SIMPLE, '') };
}

/** By the last noun of the name before numbers, sides and everything that follows it. */
function prepositionFor(name: string): 'in' | 'on' | 'at' {
  const words = name
    .toLowerCase()
    .replace(AFTER_HEAD, '')
    .split(/[^\p{L}\p{N}]+/u);
  const head = words.findLast((word) => word !== '' && !NO_HEAD.test(word)) ?? '';
  if (ON.has(head)) return 'on';
  return AT.has(head) ? 'at' : 'in';
}
