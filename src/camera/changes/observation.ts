/** Observation of the change tracker, from the finding of a comparison. */
import type { Caption } from '../../language/write.js';
import type { ChangeRegion } from '../../schemas/change.js';
import type { Finding, Region } from '../../schemas/comparison.js';
import { mayHide } from '../../schemas/hiding-nuisances.js';
import type { Observation, ObservedThing } from './state.js';

export function observationOf(
  finding: Finding,
  frame: Pick<Observation, 'comparisonId' | 'at' | 'frame'>,
): Observation {
  const regions = finding.regions.map(toChangeRegion);
  const byId = finder(finding.regions, regions);
  return {
    ...frame,
    verdict: finding.verdict === 'nuisance' && !mayHide(finding) ? 'none' : finding.verdict,
    kind: finding.kind,
    confidence: finding.confidence,
    caption: captionOf(finding),
    regions,
    statements:
      finding.statements?.map(({ text, content, kind, regions: ids }) => ({
        caption: content ?? text,
        kind,
        regions: ids.flatMap(byId),
      })) ?? null,
    ...(finding.lost?.side === 'after' ? { lost: finding.lost.boxes } : {}),
    ...(finding.on_lens === undefined ? {} : { onLens: finding.on_lens }),
    ...(finding.uncounted === undefined ? {} : { uncounted: finding.uncounted }),
    ...(finding.facts === undefined ? {} : { things: toThings(finding.facts, byId) }),
  };
}

/** The only statement of a finding; its text if it has several, or a captioner of another grammar wrote it. */
function captionOf({ caption, content }: Finding): Caption {
  const [statement, ...others] = content?.statements ?? [];
  return statement === undefined || others.length > 0 || content?.more !== 0 ? caption : statement;
}

/** The things that a finding names. */
export const thingsOf = ({ facts = [], regions = [] }: Pick<Partial<Finding>, 'facts' | 'regions'>): ObservedThing[] =>
  toThings(facts, finder(regions, regions.map(toChangeRegion)));

type Finder = (id: number) => ChangeRegion | [];

/** @param regions those of the finding, in the same order as `all` */
const finder =
  (all: readonly Region[], regions: readonly ChangeRegion[]): Finder =>
  (id) =>
    regions[all.findIndex((region) => region.id === id)] ?? [];

const toThings = (facts: NonNullable<Finding['facts']>, byId: Finder): ObservedThing[] =>
  facts.flatMap(({ class: likely, kind, nouns = [], colours = [], regions: ids }): ObservedThing[] => {
    if (!likely) return [];
    const object = likely.value === 'object' ? likely.probability : 0;
    return [{ class: likely.value, object, kind, nouns, colours, regions: ids.flatMap(byId) }];
  });

/** The region of a finding as a change keeps it. */
export const toChangeRegion = ({ side, box, area, score, scene, zone }: Region): ChangeRegion => ({
  side,
  box,
  area,
  score,
  ...(scene === undefined ? {} : { scene }),
  zone: zone ?? null,
});
