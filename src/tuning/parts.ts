/**
 * The parts of a tuning. Each is fitted on the earlier feedback of every camera and judged on the later: whether it is
 * accepted, and why.
 */
import { overlapsBy } from '../images.js';
import { readCaption } from '../language/people/captions.js';
import { nounFit } from '../language/people/nouns.js';
import type { BundleManifest } from '../model/manifest.js';
import type { Finding } from '../schemas/comparison.js';
import { type Comparison, compareAnswers, isGain } from './acceptance.js';
import { type FeedbackSample, pairOf, splitByTime } from './feedback.js';
import { fitPriors, LEAST_LABELS, type NamedChange, type NamePriors } from './name-priors.js';
import {
  applyFit,
  fitCameras,
  fitVerdict,
  type JudgedAlarm,
  LEAST_ALARMS,
  LEAST_FALSE,
  recalibrated,
  type VerdictFit,
} from './verdict-fit.js';

/** In the order in which they are fitted. */
export const PARTS = ['verdict', 'cameras', 'priors'] as const;

/** A feedback sample with the finding of the source bundle. */
export interface JudgedRun {
  readonly sample: FeedbackSample;
  readonly finding: Finding;
}

export interface PartResult {
  readonly accepted: boolean;
  /** for an operator, with the counts that decided */
  readonly reason: string;
}

/** null: not accepted */
interface Part<T> extends PartResult {
  readonly value: T | null;
}

type Manifest = Pick<BundleManifest, 'calibration' | 'names'>;

const refused = (reason: string): Part<never> => ({ accepted: false, reason, value: null });

function decided<T>(value: T, comparison: Comparison, change: string): Part<T> {
  const { answers, better, worse } = comparison;
  const counts = `of ${answers} later answers ${better} become right and ${worse} wrong`;
  return isGain(comparison)
    ? { accepted: true, reason: `${change}; ${counts}`, value }
    : refused(`${change}, but ${counts}`);
}

/**
 * One alarm per pair of frames: the pair changed if one of its judged changes is right. A finding without a model
 * (equal frames, a tampered view) is no evidence on the probability of a change.
 */
function alarmsOf(runs: readonly JudgedRun[]): JudgedAlarm[] {
  const alarms = new Map<string, JudgedAlarm>();
  for (const { sample, finding } of runs) {
    if (finding.model === null) continue;
    const changed = sample.changed || alarms.get(pairOf(sample))?.changed === true;
    alarms.set(pairOf(sample), { camera: sample.camera, confidence: finding.confidence, changed });
  }
  return [...alarms.values()];
}

export function tuneVerdict(runs: readonly JudgedRun[], { calibration }: Manifest): Part<VerdictFit> {
  const { fit, heldBack } = splitByTime(runs);
  const alarms = alarmsOf(fit);
  const value = fitVerdict(alarms, calibration);
  if (value === null) return refused(whyNoVerdict(alarms));
  const { threshold } = calibration;
  const scores = alarmsOf(heldBack).map(({ confidence, changed }): [number, number] => [
    Number(confidence >= threshold === changed),
    Number(recalibrated(confidence, value) >= threshold === changed),
  ]);
  return decided(value, compareAnswers(scores), 'a change is stated from a higher score on');
}

function whyNoVerdict(alarms: readonly JudgedAlarm[]): string {
  const falseAlarms = alarms.filter(({ changed }) => !changed).length;
  if (alarms.length < LEAST_ALARMS) return `${alarms.length} alarms to learn from, expected ${LEAST_ALARMS}`;
  if (falseAlarms < LEAST_FALSE) return `${falseAlarms} false alarms to learn from, expected ${LEAST_FALSE}`;
  return 'the feedback does not ask for a higher threshold, and nothing is known below the present one';
}

/** @param verdict the accepted fit of all cameras, if there is one */
export function tuneCameras(
  runs: readonly JudgedRun[],
  { calibration }: Manifest,
  verdict: VerdictFit | undefined,
): Part<Record<string, number>> {
  const { fit, heldBack } = splitByTime(runs);
  const anew = (alarms: JudgedAlarm[]) =>
    verdict === undefined
      ? alarms
      : alarms.map((alarm) => ({ ...alarm, confidence: recalibrated(alarm.confidence, verdict) }));
  const fitted = verdict === undefined ? calibration : applyFit(calibration, verdict);
  const value = fitCameras(anew(alarmsOf(fit)), fitted);
  const cameras = Object.keys(value);
  if (cameras.length === 0) return refused('no camera has more false alarms than the others, by enough feedback');
  const scores = anew(alarmsOf(heldBack)).map(({ camera, confidence, changed }): [number, number] => [
    Number(confidence >= fitted.threshold === changed),
    Number(confidence >= (value[camera] ?? fitted.threshold) === changed),
  ]);
  return decided(value, compareAnswers(scores), `higher thresholds for ${cameras.join(', ')}`);
}

/** @param ask findings of the source bundle with these priors about samples; null if a frame cannot be read */
export async function tunePriors(
  runs: readonly JudgedRun[],
  { names }: Manifest,
  ask: (priors: NamePriors, samples: readonly FeedbackSample[]) => Promise<(Finding | null)[]>,
): Promise<Part<NamePriors>> {
  if (names === undefined) return refused('this bundle does not name what regions show');
  const { fit, heldBack } = splitByTime(runs.filter(({ sample }) => sample.changed));
  const { priors, labels, contradicted, bounded } = fitPriors(fit.flatMap(namedChange), names);
  if (priors === null) return refused(whyNoPriors(labels, contradicted));
  const found = await ask(
    priors,
    heldBack.map(({ sample }) => sample),
  );
  const scores = heldBack.map(({ sample, finding }, i): [number, number] => {
    const truth = nounOf(sample.sentence ?? finding.caption);
    return [scoreOf(nounOf(finding.caption), truth), scoreOf(nounOf(found[i]?.caption ?? ''), truth)];
  });
  const changed = Object.entries({ ...priors.nouns, ...priors.colours }).map(
    ([name, weight]) => `${name} x ${weight}${bounded.includes(name) ? ' (one source moves it no further)' : ''}`,
  );
  return decided(priors, compareAnswers(scores), changed.join(', '));
}

function whyNoPriors(labels: number, contradicted: number): string {
  const excluded = contradicted === 0 ? '' : `; ${contradicted} sentences name what the picture excludes`;
  return labels < LEAST_LABELS || contradicted > labels
    ? `${labels} sentences to learn from, expected ${LEAST_LABELS}${excluded}`
    : `operators name things as often as the bundle expects${excluded}`;
}

function namedChange({ sample, finding }: JudgedRun): NamedChange[] {
  const fact = factOf(sample, finding);
  if (fact?.nouns === undefined) return [];
  const { source } = sample;
  return [{ nouns: fact.nouns, colours: fact.colours ?? [], sentence: sample.sentence ?? finding.caption, source }];
}

/** The fact about the regions that were judged; the first one if they are unknown. */
function factOf({ regions: judged }: FeedbackSample, { facts = [], regions }: Finding) {
  if (judged.length === 0) return facts[0];
  const about = regions.filter(({ side, box }) =>
    judged.some((one) => one.side === side && overlapsBy(one.box, box, 0.5)),
  );
  return facts.find((fact) => fact.regions.some((id) => about.some((region) => region.id === id)));
}

const nounOf = (caption: string): string | null => readCaption(caption).mentions[0]?.noun ?? null;

/** 2: the same noun, 1: a wider one, 0: another one. */
function scoreOf(stated: string | null, truth: string | null): number {
  if (stated === null || truth === null) return 0;
  return { same: 2, wider: 1, class: 0, none: 0 }[nounFit(stated, truth)];
}
