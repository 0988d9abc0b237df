/** Sentences of locations and changes, such that kind, sentence and regions do not contradict each other. */
import type { Side } from '../../base/images.js';
import { isChangeStatement, plainStatement } from '../../language/plain.js';
import { readClauses, statementOf } from '../../language/read-clauses.js';
import { SOMETHING } from '../../language/thing.js';
import type { Caption } from '../../language/write.js';
import type { ChangeRegion } from '../../schemas/change.js';
import type { ChangeKind } from '../../schemas/kinds.js';
import { SIDES_OF_KIND } from '../../schemas/kinds.js';
import type { Location, Observation, ObservedStatement, Sighting, Still, Track } from './state.js';

type Regions = readonly ChangeRegion[];

/** The regions on the sides that show a change of this kind: the others show what it hid or revealed. */
export function regionsOfKind(kind: ChangeKind, regions: Regions): Regions {
  return kind === 'tamper' ? regions : regions.filter(({ side }) => sidesOf(kind).includes(side));
}

/** As `regionsOfKind`, or null if a side that the kind needs shows none. */
export function fittingRegions(kind: ChangeKind, regions: Regions): Regions | null {
  const shown = regionsOfKind(kind, regions);
  const fits = kind === 'tamper' || sidesOf(kind).every((side) => shown.some((region) => region.side === side));
  return fits ? shown : null;
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
  return { kind: statement.kind, regions, caption: statement.caption, stated: true };
}

/** The caption of the comparison as a statement about all regions; none unless it is one clause that fits them. */
function statementOfAll({ caption, regions }: Observation): ObservedStatement[] {
  const statement = statementOf(caption);
  if (statement === null || !isChangeStatement(statement)) return [];
  const fitting = fittingRegions(statement.kind, regions);
  return fitting === null ? [] : [{ caption: statement, kind: statement.kind, regions: fitting }];
}

/** A caption of the whole comparison, if all of it states the kind; otherwise a plain statement. */
export function captionOfKind(kind: ChangeKind, caption: Caption): Caption {
  const statements =
    typeof caption === 'string' ? readClauses(caption.split(' ')).map(({ statement }) => statement) : [caption];
  const statesOnly = statements.every((statement) => statement?.kind === kind);
  return kind === 'tamper' || statesOnly ? caption : plainStatement(kind, undefined);
}

/** @param regions the strongest first */
const plainCaption = (kind: ChangeKind, regions: Regions): Caption =>
  plainStatement(kind, regionsOfKind(kind, regions)[0]?.box);

const VERB_OF_OBJECT = { appear: 'left behind', disappear: 'removed' } as const;

/** The statement about an object that stays: "a bag has appeared here" becomes "a bag has been left here". */
export function leftCaption(caption: Caption, kind: Still['kind']): Caption {
  const statement = statementOf(caption);
  return statement?.kind === kind ? { ...statement, verb: VERB_OF_OBJECT[kind] } : caption;
}

/** Whether a caption names a thing: "something has appeared" and "several things have changed" do not. */
function namesThing(caption: Caption): boolean {
  const statement = statementOf(caption);
  return statement === null || statement.things.some(({ noun }) => noun !== SOMETHING);
}
const worthOf = ({ stated, caption }: Pick<Sighting, 'stated' | 'caption'>): number =>
  Number(stated) + Number(stated && namesThing(caption));

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
  const sighting = sightings[kind];
  if (sighting !== undefined) return sighting;
  const shown = fittingRegions(kind, regions) ?? regions;
  return {
    ...best,
    caption: kind === 'tamper' ? best.caption : plainCaption(kind, shown),
    stated: false,
    regions: shown,
  };
}
