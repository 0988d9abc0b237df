/** How well a score tells changed pairs from unchanged ones, and what that means for somebody who gets the alarms. */
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

/** One pair a minute. */
export const PAIRS_A_DAY = 24 * 60;
export const FALSE_ALARM_RATES = [0.05, 0.01, 0.001] as const;

export interface Separation {
  readonly changed: number;
  readonly unchanged: number;
  readonly auroc: number | null;
  /** one for each of FALSE_ALARM_RATES */
  readonly recall: readonly (RecallAtRate | null)[];
}

/** Scores need no unit here: only their order counts. Pairs whose truth is unknown are left out. */
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

export interface FalseAlarms extends Proportion {
  /** per camera and day at one pair a minute, and the ends of its exact 95 % interval */
  readonly perDay: number | null;
  readonly perDayInterval: readonly [number, number];
}

export interface Alarms extends Separation {
  /** pairs whose predicted verdict is on the right side: change, tamper, or nothing that matters (none, nuisance) */
  readonly verdict: Proportion;
  /** changed pairs that raised an alarm */
  readonly found: Proportion;
  /** unchanged pairs that did, at the bundle's own threshold */
  readonly falseAlarms: FalseAlarms;
  readonly calibration: Calibration;
  /** of the unchanged pairs with each nuisance that the manifest names, most frequent first */
  readonly byNuisance: readonly { readonly nuisance: string; readonly falseAlarms: Proportion }[];
}

export function alarms(pairs: readonly Pair[], predictions: readonly Prediction[]): Alarms {
  const known = pairs.flatMap((pair, i) => {
    const prediction = predictions[i];
    return pair.changed === null || prediction === undefined ? [] : [{ pair, prediction }];
  });
  const unchanged = known.filter(({ pair }) => !pair.changed);
  const raised = ({ prediction }: { prediction: Prediction }) => side(prediction.verdict) !== 'quiet';
  const names = [...new Set(unchanged.flatMap(({ pair }) => pair.nuisances))];
  return {
    ...separation(
      known.map(({ pair }) => pair),
      known.map(({ prediction }) => prediction.confidence),
    ),
    verdict: proportionOf(
      known.map(({ pair, prediction }) => side(prediction.verdict) === side(pair.verdict ?? 'none')),
    ),
    found: proportionOf(known.filter(({ pair }) => pair.changed).map(raised)),
    falseAlarms: perDay(proportionOf(unchanged.map(raised))),
    calibration: calibration(
      known.map(({ prediction }) => prediction.confidence),
      known.map(({ pair }) => pair.changed === true),
    ),
    byNuisance: names
      .map((nuisance) => ({
        nuisance,
        falseAlarms: proportionOf(
          unchanged.filter(({ pair }) => pair.nuisances.includes(nuisance)).map(raised),
        ),
      }))
      .sort((a, b) => b.falseAlarms.of - a.falseAlarms.of),
  };
}

const side = (verdict: string): 'change' | 'tamper' | 'quiet' =>
  verdict === 'change' || verdict === 'tamper' ? verdict : 'quiet';

const perDay = (share: Proportion): FalseAlarms => ({
  ...share,
  perDay: share.rate === null ? null : share.rate * PAIRS_A_DAY,
  perDayInterval: [share.interval[0] * PAIRS_A_DAY, share.interval[1] * PAIRS_A_DAY],
});
