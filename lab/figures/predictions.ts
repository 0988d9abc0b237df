/**
 * NDJSON codec of predictions, one line per pair: `scenedelta evaluate --predictions` writes, `--from-predictions`
 * reads.
 */
import { type Static, Type } from 'typebox';
import { invalidRequest } from '../../src/base/errors.js';
import { FindingSchema, RegionSchema } from '../../src/schemas/comparison.js';
import { check, ndjson, type Pair } from './pairs.js';

const PeakSchema = Type.Union([
  Type.Object({
    x: Type.Number({ minimum: 0, maximum: 1 }),
    y: Type.Number({ minimum: 0, maximum: 1 }),
    value: Type.Number(),
  }),
  Type.Null(),
]);

/**
 * peak_before, peak_after: the greatest value of that frame's change map and its position in fractions of the frame,
 * origin top left; null without a map (no model runs on identical frames). timings_ms: stage -> milliseconds.
 */
const PredictionSchema = Type.Object({
  id: Type.String(),
  verdict: FindingSchema.properties.verdict,
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  kind: FindingSchema.properties.kind,
  caption: Type.String(),
  regions: Type.Array(RegionSchema),
  peak_before: PeakSchema,
  peak_after: PeakSchema,
  timings_ms: Type.Record(Type.String(), Type.Number()),
});
export type Prediction = Static<typeof PredictionSchema>;
export type Peak = NonNullable<Prediction['peak_before']>;

/** @throws ScenedeltaError 'invalid-request' naming file, line and reason */
export function parsePredictions(text: string, file: string): Map<string, Prediction> {
  const predictions = new Map<string, Prediction>();
  for (const { value, line } of ndjson(text, file)) {
    const prediction = check(PredictionSchema, value, file, line);
    predictions.set(prediction.id, prediction);
  }
  return predictions;
}

/**
 * The predictions in the order of the pairs.
 * @throws ScenedeltaError 'invalid-request' naming the first pair without one
 */
export function alignPredictions(
  pairs: readonly Pair[],
  predictions: ReadonlyMap<string, Prediction>,
  file: string,
): Prediction[] {
  return pairs.map((pair) => {
    const prediction = predictions.get(pair.id);
    if (prediction === undefined) {
      throw invalidRequest(
        `${file}: has no prediction for pair ${JSON.stringify(pair.id)} ` +
          `(${predictions.size} predictions, ${pairs.length} expected)`,
      );
    }
    return prediction;
  });
}

export const formatPrediction = (prediction: Prediction): string => `${JSON.stringify(prediction)}\n`;
