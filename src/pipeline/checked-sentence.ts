/** The sentence of a change with the truth check of each of its clauses, which warns and decides nothing. */
import type { Prediction } from '../model/calibration.js';
import type { BundleManifest } from '../model/manifest.js';
import type { MapRegion } from '../model/regions.js';
import type { Check } from '../schemas/check.js';
import type { Description } from './location-statement.js';
import { type ChangeSentence, composeSentence } from './sentence.js';
import { type RunCheck, TruthCheck } from './truth-check.js';

/**
 * @param crops of the locations, the strongest first
 * @param regions of the answer, the strongest first
 * @param run the graph `check`; is not called of a bundle without one
 * @returns the sentence, and the check of its clauses; undefined of a bundle without a truth check
 */
export async function composeChecked<C extends { readonly regions: readonly MapRegion[] }>(
  description: Description,
  kind: Prediction['kind'],
  { crops, regions }: { readonly crops: readonly C[]; readonly regions: readonly MapRegion[] },
  manifest: BundleManifest,
  run: RunCheck<C>,
): Promise<{ readonly captioned: ChangeSentence; readonly check?: Check }> {
  const captioned = composeSentence(description, kind, regions, manifest);
  const { check, glance } = manifest;
  if (check === undefined || glance === null) return { captioned };
  const judged = await new TruthCheck(check, crops, glance.regions, run).judge(captioned.clauses);
  const clauses = captioned.clauses.map(({ text, regions: shown }, i) => ({
    text,
    p: judged[i]?.p as number,
    facts: judged[i]?.facts as Check['clauses'][number]['facts'],
    regions: shown.map((region) => regions.indexOf(region) + 1),
  }));
  const score = clauses.length === 0 ? null : Math.min(...clauses.map(({ p }) => p));
  return { captioned, check: { score, clauses } };
}
