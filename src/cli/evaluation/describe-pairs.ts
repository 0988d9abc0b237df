/** The describer on labelled pairs, one request per pair that the captioner calls changed. */
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { systemClock } from '../../clock.js';
import type { Config } from '../../config.js';
import { createDescriber } from '../../describer/describe.js';
import { evidenceOfFinding } from '../../describer/evidence.js';
import { invalidRequest } from '../../errors.js';
import type { Finding } from '../../schemas/comparison.js';
import type { Description, Preset } from '../../schemas/description.js';
import type { PairBytes } from './bundle-runner.js';

/** Requests at a time, as in a worker. */
const CONCURRENCY = 2;

export interface PairDescriber {
  /** @returns null if the finding is no change, or shows no place of it */
  describe(frames: PairBytes, finding: Finding): Promise<Description | null>;
  close(): Promise<void>;
}

/**
 * @param preset instructions; `custom` has none of its own here
 * @throws ScenedeltaError 'invalid-request' if DESCRIBER_URL is not set; as createDescriber does
 */
export function openPairDescriber(config: Config, preset: Preset): PairDescriber {
  const { describerUrl } = config;
  if (describerUrl === null) {
    throw invalidRequest(
      '--describer needs DESCRIBER_URL, which is not set: expected the address of an OpenAI-compatible server',
      'DESCRIBER_URL',
    );
  }
  const describer = createDescriber({ ...config, describerUrl }, { clock: systemClock, wait: sleep });
  const limit = pLimit(CONCURRENCY);
  // The operator counts the pairs of an evaluation, so that no limit is needed.
  const meter = { takeCall: async () => null, addTokens: async () => {} };
  return {
    async describe(frames, finding) {
      const evidence = evidenceOfFinding(finding);
      if (evidence.length === 0) return null;
      const input = { preset, instructions: null, frames, evidence, fullFrames: false, meter };
      return limit(() => describer.describe(input));
    },
    close: () => describer.close(),
  };
}
