/** Rules over findings and comparisons, without their schemas, which few processes need. */
import { SIDES, type Side } from '../base/images.js';
import type { Check } from './check.js';
import type { Comparison, Evidence, Finding, Region } from './comparison.js';
import { SIDES_OF_KIND } from './kinds.js';

/** Frames that a comparison has: a camera's first one was compared with none. */
export const sidesOf = ({ camera_frame }: Pick<Comparison, 'camera_frame'>): readonly Side[] =>
  camera_frame?.before === null ? ['after'] : SIDES;
/** Whether a comparison of this status can no longer change. */
export const isFinal = (status: Comparison['status']): boolean => status !== 'queued' && status !== 'running';

/** @returns the finding or comparison as answers show it */
export function answered<T extends Evidence>(finding: T): Omit<T, keyof Evidence> {
  const { statements: _statements, facts: _facts, on_lens: _onLens, uncounted: _uncounted, ...shown } = finding;
  return shown;
}

/**
 * The regions that `keep` returns, numbered from 1, and the statements and facts about them. A statement is dropped
 * if no region is left on a side that its kind needs; a fact or a checked clause, if any of its regions is dropped;
 * an owner, with its region.
 */
export function keepRegions(
  { regions, statements, facts, check }: Pick<Finding, 'regions' | 'statements' | 'facts' | 'check'>,
  keep: (region: Region) => Region | null,
): Pick<Finding, 'regions' | 'statements' | 'facts' | 'check'> {
  const kept = regions.flatMap((region) => {
    const left = keep(region);
    return left === null ? [] : [{ from: region.id, region: left }];
  });
  const idOf = (from: number) => kept.findIndex((one) => one.from === from) + 1;
  const renumbered = (statements ?? []).flatMap((statement) => {
    const ids = statement.regions.map(idOf).filter((id) => id > 0);
    const sides = ids.map((id) => kept[id - 1]?.region.side);
    return SIDES_OF_KIND[statement.kind].every((side) => sides.includes(side)) ? [{ ...statement, regions: ids }] : [];
  });
  const remaining = (facts ?? []).flatMap((fact) => {
    const ids = fact.regions.map(idOf).filter((id) => id > 0);
    if (ids.length < fact.regions.length) return [];
    const { object } = fact;
    if (!object) return [{ ...fact, regions: ids }];
    const region = kept.find(({ from }) => from === object.owner?.region)?.region;
    const owner = object.owner && region ? { region: idOf(object.owner.region), box: region.box } : null;
    return [{ ...fact, regions: ids, object: { ...object, owner } }];
  });
  return {
    regions: kept.map(({ region }, i) => ({ ...region, id: i + 1 })),
    ...(statements === undefined ? {} : { statements: renumbered }),
    ...(facts === undefined ? {} : { facts: remaining }),
    ...(check === undefined ? {} : { check: keepClauses(check, idOf) }),
  };
}

/** The clauses that are about remaining regions alone. @param idOf new id of a region; 0: it is dropped */
export function keepClauses({ clauses }: Check, idOf: (from: number) => number): Check {
  const kept = clauses
    .map((one) => ({ ...one, regions: one.regions.map(idOf) }))
    .filter(({ regions }) => !regions.includes(0));
  const score = kept.length === 0 ? null : Math.min(...kept.map(({ p }) => p));
  return { score, clauses: kept };
}
