/** The pipeline for recordings: it compares one pair at a time, and lets live work pass before each. */
import { Mutex } from 'async-mutex';
import type { FrameDependencies } from '../camera/fold/examine.js';

/** @param pass resolves when live work leaves a thread free */
export function givingWay(
  pipeline: FrameDependencies['pipeline'],
  pass: () => Promise<void>,
): FrameDependencies['pipeline'] {
  const one = new Mutex();
  return {
    operatingPoints: (model) => pipeline.operatingPoints(model),
    compare: (input) =>
      one.runExclusive(async () => {
        await pass();
        return pipeline.compare(input);
      }),
  };
}
