/** Comparison of two frames by the API, for the companion. */
import { Failure } from '../failure.js';
import { postPair } from '../frames.js';
import type { Service } from '../service.js';

/** Longest wait for the answer of the API, s; a comparison that takes longer is tried again. */
const WAIT_SECONDS = 60;

/**
 * @returns the sentence
 * @throws Failure 'refused' if these frames cannot be compared; 'unavailable', 'unauthorized' otherwise
 */
export async function compareBy(service: Service, before: Uint8Array, after: Uint8Array): Promise<string> {
  const signal = AbortSignal.timeout((WAIT_SECONDS + 10) * 1000);
  const { caption } = await postPair(service, { before, after }, { wait: WAIT_SECONDS, signal });
  if (typeof caption === 'string') return caption;
  throw new Failure('unavailable', `the service has not answered within ${WAIT_SECONDS} s`);
}
