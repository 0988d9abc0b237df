/**
 * The sentence of a change after the truth check: a clause is left out if the check doubts what happened (ADR 17). If
 * none remains, the sentence states no kind, but it names the thing: "the truck in the middle has changed".
 */
import { SOMETHING } from '../language/thing.js';
import { textOf } from '../language/write.js';
import type { Prediction } from '../model/calibration.js';
import type { BundleManifest } from '../model/manifest.js';
import type { MapRegion } from '../model/regions.js';
import type { Check } from '../schemas/check.js';
import type { Description, LocationStatement } from './location-statement.js';
import { type ChangeSentence, composeSentence, plainChange } from './sentence.js';
import { type ClauseText, type RunCheck, TruthCheck } from './truth-check.js';

/**
 * @param crops of the locations, the strongest first
 * @param regions of the answer, the strongest first
 * @param truth share of the things said that must be true, 0..1
 * @param run the graph `check`; is not called of a bundle without one
 * @returns the sentence, and the check of its clauses; undefined of a bundle without a truth check
 */
export async function composeChecked<C extends { readonly regions: readonly MapRegion[] }>(
  description: Description,
  kind: Prediction['kind'],
  { crops, regions }: { readonly crops: readonly C[]; readonly regions: readonly MapRegion[] },
  manifest: BundleManifest,
  truth: number,
  run: RunCheck<C>,
): Promise<{ readonly captioned: ChangeSentence; readonly check?: Check }> {
  const { check, glance } = manifest;
  if (check === undefined || glance === null) {
    return { captioned: composeSentence(description, kind, regions, manifest, truth) };
  }
  const truthCheck = new TruthCheck(check, crops, glance.regions, run);
  const stated = await truthCheck.judge(description.statements.map(clauseOf));
  const { threshold } = check.calibration.action;
  const isWeak = (i: number): boolean =>
    description.statements[i]?.recognised === undefined && (stated[i]?.facts.action ?? 1) < threshold;
  const firm = description.statements.filter((_, i) => !isWeak(i));
  const allWeak = firm.length === 0 && description.statements.length > 0;
  const captioned = allWeak
    ? changeOfUnknownKind(description.statements[0] as LocationStatement, kind, regions)
    : composeSentence({ ...description, statements: firm }, kind, regions, manifest, truth);
  const idsOf = (shown: readonly MapRegion[]) => shown.map((region) => regions.indexOf(region) + 1);
  const judged = await truthCheck.judge(captioned.clauses);
  const clauses = captioned.clauses.map(({ text, regions: shown }, i) => ({
    text,
    p: judged[i]?.p as number,
    facts: judged[i]?.facts as Check['clauses'][number]['facts'],
    regions: idsOf(shown),
  }));
  const weakened = description.statements.flatMap(({ words, regions: shown }, i) =>
    isWeak(i)
      ? [{ text: textOf(words), slot: 'action' as const, p: stated[i]?.facts.action as number, regions: idsOf(shown) }]
      : [],
  );
  const score = clauses.length === 0 ? null : Math.min(...clauses.map(({ p }) => p));
  return { captioned: { ...captioned, kind: allWeak ? kind : captioned.kind }, check: { score, clauses, weakened } };
}

/** The check doubts what happened, not what is there: a noun that all things of the strongest location have stays. */
function changeOfUnknownKind(
  { facts, statement, regions: shown }: LocationStatement,
  kind: Prediction['kind'],
  regions: readonly MapRegion[],
): ChangeSentence {
  const unknown = { ...kind, name: 'unknown' };
  const [noun, ...others] = new Set(facts.map((fact) => fact.noun.value));
  if (noun === undefined || noun === SOMETHING || others.length > 0) return plainChange(unknown, regions);
  const [count, ...counts] = new Set(statement.things.map((thing) => thing.count));
  const thing = { noun, colour: null, count: counts.length > 0 ? null : (count ?? null), definite: true };
  return plainChange(unknown, shown, thing);
}

const clauseOf = ({ words, regions }: LocationStatement): ClauseText => ({ text: textOf(words), regions });
