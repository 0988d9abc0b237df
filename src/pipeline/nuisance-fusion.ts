/**
 * How the model's belief and the viewpoint's evidence become one. Whether something changed: logistic regressions that
 * `npm run fit:verdict` fitted for one bundle, kept beside it as verdict.json; without such a file, or with one for other weights or
 * another calibration, the model decides alone. Which nuisance there is: the evidence, where it knows the nuisance (measured on real pairs in
 * test/bench/RESULTS.md: of what the model alone names half is true, and it misses most).
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { Logger } from '../logger.js';
import { BundleError } from '../model/bundle.js';
import { type Belief, judge, sigmoid } from '../model/calibration.js';
import type { Difference } from '../model/captioner.js';
import type { Bundle, Manifest } from '../model/manifest.js';
import { type Evidence, showsTooLittle } from '../viewpoint/examine.js';
import { FITTED } from '../viewpoint/fitted.js';
import { logitOf, NUISANCES, type NuisanceName } from '../viewpoint/scores.js';

export const RULE_FILE = 'verdict.json';

const Probability = Type.Number({ minimum: 0, maximum: 1 });
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const strict = { additionalProperties: false };
const Weights = Type.Object(
  Object.fromEntries(NUISANCES.map((name) => [name, Type.Optional(Type.Number())])),
  strict,
);

export const VerdictRuleSchema = Type.Object(
  {
    format: Type.Literal('scenedelta-verdict/1'),
    /** of the bundle whose logits it was fitted to */
    bundle_sha256: Sha256,
    /** of the calibration that the bundle's manifest had then, which this stands in for; a rule without it may be of any */
    calibration_sha256: Type.Optional(Sha256),
    /** displacement, as a fraction of the frame's width, from which `after` is aligned before it is encoded; null = never */
    align_from: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
    /** probability of a change = sigmoid(offset + model * change logit + sum of weight * logit of the evidence's score) */
    change: Type.Object({ offset: Type.Number(), model: Type.Number(), weights: Weights }, strict),
    threshold: Probability,
    operating_points: Type.Array(
      Type.Object({ false_alarm_rate: Probability, threshold: Probability, recall: Probability }, strict),
    ),
    /** probability of a nuisance = sigmoid(offset + model * nuisance logit + evidence * logit of the evidence's score) */
    nuisances: Type.Record(
      Type.String(),
      Type.Object(
        { offset: Type.Number(), model: Type.Number(), evidence: Type.Number(), threshold: Probability },
        strict,
      ),
    ),
    fitted: Type.Object({ command: Type.String(), figures: Type.Array(Type.String()) }, strict),
  },
  strict,
);
export type VerdictRule = Static<typeof VerdictRuleSchema>;

/**
 * The identity of what a rule takes the place of. The bundle's own covers its files, and the manifest, which holds this, is none.
 * @returns hex
 */
export function calibrationSha256({ calibration }: Pick<Manifest, 'calibration'>): string {
  const { change, threshold, operating_points } = calibration;
  const points = operating_points.map((point) => [point.false_alarm_rate, point.threshold]);
  return createHash('sha256')
    .update(JSON.stringify([change.scale, change.offset, threshold, points]))
    .digest('hex');
}

/**
 * @returns null where the bundle has none, or one that was fitted to other weights or another calibration (`onStale` is told)
 * @throws BundleError where the file cannot be read or is not such a rule
 */
export async function loadVerdictRule(
  bundle: Bundle,
  onStale: (reason: string) => void,
): Promise<VerdictRule | null> {
  const path = join(bundle.directory, RULE_FILE);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new BundleError(path, `cannot be read (${code})`, { cause: error });
  }
  const rule = parseRule(text, path);
  const reason = whyStale(rule, bundle);
  if (reason === null) return rule;
  onStale(`${path} ${reason}`);
  return null;
}

function whyStale(rule: VerdictRule, bundle: Bundle): string | null {
  const short = (sha256: string) => sha256.slice(0, 12);
  if (rule.bundle_sha256 !== bundle.sha256) {
    return `was fitted to bundle ${short(rule.bundle_sha256)}, and this is ${short(bundle.sha256)}`;
  }
  const calibration = calibrationSha256(bundle.manifest);
  if (rule.calibration_sha256 === undefined) {
    return `does not say to which calibration it was fitted, and the manifest's is ${short(calibration)}`;
  }
  if (rule.calibration_sha256 === calibration) return null;
  return `was fitted to calibration ${short(rule.calibration_sha256)}, and the manifest's is ${short(calibration)}`;
}

/**
 * Of all bundles, by name; a bundle without a usable rule is left out and decides alone.
 * @throws BundleError where the default bundle's rule is broken
 */
export async function loadRules(
  bundles: readonly Bundle[],
  defaultModel: string,
  logger: Pick<Logger, 'warn' | 'error'>,
): Promise<ReadonlyMap<string, VerdictRule>> {
  const rules = new Map<string, VerdictRule>();
  for (const bundle of bundles) {
    const { name } = bundle.manifest;
    try {
      const rule = await loadVerdictRule(bundle, (reason) =>
        logger.warn(
          { model: name, reason },
          'the model decides alone; npm run fit:verdict fits a rule to it',
        ),
      );
      if (rule !== null) rules.set(name, rule);
    } catch (error) {
      if (!(error instanceof BundleError) || name === defaultModel) throw error;
      logger.error({ model: name, reason: error.message }, 'the rule is broken; the model decides alone');
    }
  }
  return rules;
}

function parseRule(text: string, path: string): VerdictRule {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new BundleError(path, `is not JSON: ${(error as Error).message}`, { cause: error });
  }
  if (Value.Check(VerdictRuleSchema, json)) return json;
  const [fault] = Value.Errors(VerdictRuleSchema, json);
  throw new BundleError(path, `${fault?.instancePath || 'the rule'} ${fault?.message}`);
}

/** Whether the captioner is to see `after` as the camera of `before` would have: never where views could not be registered. */
export function isToBeAligned({ registration }: Evidence, rule: VerdictRule | null): boolean {
  const from = rule?.align_from ?? null;
  return registration !== null && from !== null && registration.displacement >= from;
}

/**
 * The model's belief, corrected by the evidence.
 * @param threshold of the probability of a change; absent = the rule's, or else the bundle's
 */
export function believe(
  difference: Pick<Difference, 'changeLogit' | 'kindLogits' | 'nuisanceLogits'>,
  evidence: Evidence,
  manifest: Manifest,
  rule: VerdictRule | null,
  threshold: number | undefined,
): Belief {
  const ofModel = judge(difference, manifest, threshold);
  const nuisances = namedNuisances(difference, evidence, manifest, rule, ofModel);
  if (rule === null) return { ...ofModel, nuisances };
  const change = changeProbability(difference.changeLogit, evidence, rule);
  return { ...ofModel, change, changed: change >= (threshold ?? rule.threshold), nuisances };
}

function namedNuisances(
  difference: Pick<Difference, 'nuisanceLogits'>,
  evidence: Evidence,
  manifest: Manifest,
  rule: VerdictRule | null,
  ofModel: Belief,
): Belief['nuisances'] {
  if (showsTooLittle(evidence)) return ofModel.nuisances; // nothing to measure by
  const measured = NUISANCES.map((name) => {
    const logit = difference.nuisanceLogits[manifest.nuisances.indexOf(name)] ?? 0;
    const own = logitOf(evidence.nuisances[name]);
    const joint = rule?.nuisances[name] ?? (DOUBTED.has(name) ? EQUAL_SAY : EVIDENCE_ALONE);
    const score = sigmoid(joint.offset + joint.model * logit + joint.evidence * own);
    return { name, score, named: score >= (joint.threshold ?? FITTED.nuisances[name].threshold) };
  });
  // What is measured comes first, and so gives an unchanged pair its sentence.
  return [
    ...measured
      .filter(({ named }) => named)
      .map(({ name, score }) => ({ name, score }))
      .sort((a, b) => b.score - a.score),
    ...ofModel.nuisances.filter(({ name }) => !NUISANCES.some((known) => known === name)),
  ];
}

interface Say {
  readonly offset: number;
  readonly model: number;
  readonly evidence: number;
  /** absent: the evidence's own */
  readonly threshold?: number;
}
const EVIDENCE_ALONE: Say = { offset: 0, model: 0, evidence: 1 };
/** The geometric mean of both odds. */
const EQUAL_SAY: Say = { offset: 0, model: 0.5, evidence: 0.5 };
/** Measurements take leaves in the wind for rain and snow; what has seen trees does not. */
const DOUBTED: ReadonlySet<NuisanceName> = new Set(['weather']);

export function changeProbability(changeLogit: number, { nuisances }: Evidence, rule: VerdictRule): number {
  const { offset, model, weights } = rule.change;
  let logit = offset + model * changeLogit;
  for (const name of NUISANCES) {
    const weight = weights[name] ?? 0;
    if (weight !== 0) logit += weight * logitOf(nuisances[name]); // what has no say may be anything
  }
  return sigmoid(logit);
}
