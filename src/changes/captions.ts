/** Sentences of locations and changes, such that kind, sentence and regions do not contradict each other. */
import type { Side } from '../images.js';
import { clausesOf, statesOnly } from '../model/clauses.js';
import { plainSentence } from '../model/wording.js';
import type { ChangeKind, ChangeRegion } from '../schemas/change.js';
import { SIDES_OF_KIND } from '../schemas/comparison.js';
import type { Location, Observation, ObservedStatement, Sighting, Still, Track } from './state.js';

type Regions = readonly ChangeRegion[];

/** The regions on the sides that show a change of this kind: the others show what it hid or revealed. */
export function regionsOfKind(kind: ChangeKind, regions: Regions): Regions {
  return kind === 'tamper' ? regions : regions.filter(({ side }) => sidesOf(kind).includes(side));
}

/** The same, or null if a side that the kind needs shows none. */
export function fittingRegions(kind: ChangeKind, regions: Regions): Regions | null {
  const own = regionsOfKind(kind, regions);
  const fits = kind === 'tamper' || sidesOf(kind).every((side) => own.some((region) => region.side === side));
  return fits ? own : null;
}

const sidesOf = (kind: Exclude<ChangeKind, 'tamper'>): readonly Side[] => SIDES_OF_KIND[kind];

/**
 * The kind and the caption of a location in the scene. The first statement about regions of this location alone gives
 * both.
 * @param kind of a location without such a statement, by the sides of its regions
 * @param allowed the kinds that such a statement may have
 */
export function describeLocation(
  kind: Exclude<ChangeKind, 'tamper'>,
  allowed: readonly ChangeKind[],
  regions: Regions,
  observation: Observation,
): Location {
  const statements = observation.statements ?? statementOfAll(observation);
  const statement = statements.find(
    (one) => allowed.includes(one.kind) && one.regions.every((region) => regions.includes(region)),
  );
  if (statement === undefined) return { kind, regions, caption: plainCaption(kind, regions), stated: false };
  return { kind: statement.kind, regions, caption: statement.text, stated: true };
}

/** The caption of the comparison as a statement about all regions; none unless it is one clause that fits them. */
function statementOfAll({ caption, regions }: Observation): ObservedStatement[] {
  const [clause, ...others] = clausesOf(caption.split(' '));
  const kind = clause?.kind;
  if (kind === undefined || others.length > 0) return [];
  const own = fittingRegions(kind, regions);
  return own === null ? [] : [{ text: caption, kind, regions: own }];
}

/** A caption of the whole comparison, if all of it states the kind; otherwise a plain sentence. */
export const captionOfKind = (kind: ChangeKind, caption: string): string =>
  kind === 'tamper' || statesOnly(caption, kind) ? caption : plainSentence(kind, undefined);

/** @param regions the strongest first */
function plainCaption(kind: ChangeKind, regions: Regions): string {
  return plainSentence(kind, regionsOfKind(kind, regions)[0]?.box);
}

/** Per kind the forms of a clause: the thing, "has" or "is", and the place. */
const FORMS_OF_OBJECT: Readonly<Record<Still['kind'], readonly RegExp[]>> = {
  appear: [
    /^(.+?) (has|have) (?:appeared|arrived)(?: (.+))?$/,
    /^there (is|are) (.+?)(?: ((?:on|in|at|by) the .+?))?(?: now)?$/,
    /^(.+?) (is|are) now(?: (?:there|standing))?(?: (.+))?$/,
  ],
  disappear: [/^(.+?) (has|have|is|are) (?:gone|no longer there|left|disappeared)$/],
};
const VERB_OF_OBJECT = { appear: 'been left', disappear: 'been removed' } as const;

/** The clause about an object that stays: "a bag has appeared here" becomes "a bag has been left here". */
export function leftCaption(caption: string, kind: Still['kind']): string {
  for (const form of FORMS_OF_OBJECT[kind]) {
    const [, first, second, place] = form.exec(caption) ?? [];
    if (first === undefined || second === undefined) continue;
    const [thing, verb] = /^(?:is|are)$/.test(first) ? [second, first] : [first, second];
    const has = verb === 'is' || verb === 'has' ? 'has' : 'have';
    return [thing, has, VERB_OF_OBJECT[kind], place ?? ''].join(' ').trim();
  }
  return caption;
}

/** Sentences that name no thing: "something has appeared", "several things have changed". */
const NAMELESS = /^(?:something|several things)\b/;
const worthOf = ({ stated, caption }: Pick<Sighting, 'stated' | 'caption'>): number =>
  Number(stated) + Number(stated && !NAMELESS.test(caption));

/**
 * A better sighting than the one before: one with a statement, one of them that names the thing, and of equal ones the
 * more confident.
 */
export function betterSighting(old: Sighting | undefined, location: Location, observation: Observation): Sighting {
  const { comparisonId, confidence } = observation;
  const { kind, caption, stated } = location;
  const sighting = {
    comparisonId,
    caption,
    confidence,
    stated,
    regions: regionsOfKind(kind, location.regions),
  };
  if (old === undefined) return sighting;
  const gain = worthOf(sighting) - worthOf(old);
  return gain > 0 || (gain === 0 && confidence > old.confidence) ? sighting : old;
}

/** The sighting that describes a track as a change of this kind. */
export function sightingOf({ best, regions, sightings }: Track, kind: ChangeKind): Sighting {
  const sighting = sightings?.[kind];
  if (sighting !== undefined) return sighting;
  const own = fittingRegions(kind, regions) ?? regions;
  return {
    ...best,
    caption: kind === 'tamper' ? best.caption : plainCaption(kind, own),
    stated: false,
    regions: own,
  };
}
