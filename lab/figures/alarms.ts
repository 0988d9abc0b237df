/** How well a score separates changed from unchanged pairs, and the alarms per camera and day that follow from it. */
import type { Pair } from './pairs.js';
import type { Prediction } from './predictions.js';
import {
  auroc,
  type Calibration,
  calibration,
  type Proportion,
  proportionOf,
  type RecallAtRate,
  recallAtRate,
} from './statistics.js';

/** One pair per minute. */
const PAIRS_PER_DAY = 24 * 60;
export const FALSE_ALARM_RATES = [0.05, 0.01, 0.001] as const;

export interface Separation {
  readonly changed: number;
  readonly unchanged: number;
  readonly auroc: number | null;
  /** one per FALSE_ALARM_RATES */
  readonly recall: readonly (RecallAtRate | null)[];
}

/** @param scores one per pair, of any unit: only their order counts. Pairs without a label are left out. */
export function separation(pairs: readonly Pair[], scores: readonly number[]): Separation {
  const positives = scores.filter((_, i) => pairs[i]?.changed === true);
  const negatives = scores.filter((_, i) => pairs[i]?.changed === false);
  return {
    changed: positives.length,
    unchanged: negatives.length,
    auroc: auroc(positives, negatives),
    recall: FALSE_ALARM_RATES.map((rate) => recallAtRate(positives, negatives, rate)),
  };
}

/** False alarms per camera and day at one pair per minute, with the ends of the exact 95 % interval. */
interface FalseAlarms extends Proportion {
  readonly perDay: number | null;
  readonly perDayInterval: readonly [number, number];
}

export interface Alarms extends Separation {
  /** pairs whose predicted verdict is on the right side: change, tamper, or neither (none, nuisance) */
  readonly verdict: Proportion;
  /** changed pairs that raised an alarm */
  readonly found: Proportion;
  /** unchanged pairs that raised an alarm, at the threshold of the bundle */
  readonly falseAlarms: FalseAlarms;
  readonly calibration: Calibration;
  /** false alarms of the unchanged pairs with each labelled nuisance, the most frequent nuisance first */
  readonly byNuisance: readonly { readonly nuisance: string; readonly falseAlarms: Proportion }[];
}

export function alarms(pairs: readonly Pair[], predictions: readonly Prediction[]): Alarms {
  const known = pairs.flatMap((pair, i) => {
    const prediction = predictions[i];
    return pair.changed === null || prediction === undefined ? [] : [{ pair, prediction }];
  });
  const unchanged = known.filter(({ pair }) => !pair.changed);
  const isAlarm = ({ prediction }: { prediction: Prediction }) => sideOf(prediction.verdict) !== 'quiet';
  const confidences = known.map(({ prediction }) => prediction.confidence);
  const names = [...new Set(unchanged.flatMap(({ pair }) => pair.nuisances))];
  return {
    ...separation(
      known.map(({ pair }) => pair),
      confidences,
    ),
    verdict: proportionOf(
      known.map(({ pair, prediction }) => sideOf(prediction.verdict) === sideOf(pair.verdict ?? 'none')),
    ),
    found: proportionOf(known.filter(({ pair }) => pair.changed).map(isAlarm)),
    falseAlarms: perDay(proportionOf(unchanged.map(isAlarm))),
    calibration: calibration(
      confidences,
      known.map(({ pair }) => pair.changed === true),
    ),
    byNuisance: names
      .map((nuisance) => ({
        nuisance,
        falseAlarms: proportionOf(unchanged.filter(({ pair }) => pair.nuisances.includes(nuisance)).map(isAlarm)),
      }))
      .sort((a, b) => b.falseAlarms.of - a.falseAlarms.of),
  };
}

const sideOf = (verdict: string): 'change' | 'tamper' | 'quiet' =>
  verdict === 'change' || verdict === 'tamper' ? verdict : 'quiet';

const perDay = (share: Proportion): FalseAlarms => ({
  ...share,
  perDay: share.rate === null ? null : share.rate * PAIRS_PER_DAY,
  perDayInterval: [share.interval[0] * PAIRS_PER_DAY, share.interval[1] * PAIRS_PER_DAY],
});
