/** Observation of the change tracker, from the finding of a comparison. */
import type { ChangeRegion } from '../schemas/change.js';
import type { Finding } from '../schemas/comparison.js';
import type { Observation, ObservedThing } from './state.js';

/** Nuisances that may hide a thing. A frame with only other nuisances proves an absence as a clear one does. */
const HIDING: ReadonlySet<string> = new Set(['ir_switch', 'weather', 'defocus']);
const mayHide = ({ nuisance }: Finding): boolean => nuisance.some(({ name }) => HIDING.has(name));

export function observationOf(
  finding: Finding,
  frame: Pick<Observation, 'comparisonId' | 'at' | 'frame'>,
): Observation {
  const regions = finding.regions.map(
    ({ side, box, area, score, zone }): ChangeRegion => ({ side, box, area, score, zone: zone ?? null }),
  );
  const byId = (id: number) => regions[finding.regions.findIndex((region) => region.id === id)] ?? [];
  return {
    ...frame,
    verdict: finding.verdict === 'nuisance' && !mayHide(finding) ? 'none' : finding.verdict,
    kind: finding.kind,
    confidence: finding.confidence,
    caption: finding.caption,
    regions,
    statements:
      finding.statements?.map(({ text, kind, regions: ids }) => ({
        text,
        kind,
        regions: ids.flatMap(byId),
      })) ?? null,
    ...(finding.facts === undefined
      ? {}
      : {
          things: finding.facts.flatMap(
            ({ class: likely, kind, nouns = [], colours = [], regions: ids }): ObservedThing[] => {
              if (!likely) return [];
              const object = likely.value === 'object' ? likely.probability : 0;
              return [{ class: likely.value, object, kind, nouns, colours, regions: ids.flatMap(byId) }];
            },
          ),
        }),
  };
}
