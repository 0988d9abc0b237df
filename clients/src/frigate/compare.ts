/** Comparison of two frames by the API, for the companion. */
import { Failure } from '../failure.js';
import { ok, type Service } from '../service.js';

/** Longest wait for the answer of the API, s; a comparison that takes longer is tried again. */
const WAIT_SECONDS = 60;

/**
 * @returns the sentence
 * @throws Failure 'refused' if these frames cannot be compared; 'unavailable', 'unauthorized' otherwise
 */
export async function compareBy({ api }: Service, before: Uint8Array, after: Uint8Array): Promise<string> {
  const { caption } = await ok(
    api.POST('/v1/comparisons', {
      params: { header: { Prefer: `wait=${WAIT_SECONDS}` } },
      body: { before: '', after: '' },
      bodySerializer: () => {
        const form = new FormData();
        for (const [name, bytes] of Object.entries({ before, after })) {
          form.set(name, new Blob([new Uint8Array(bytes)]), `${name}.jpg`);
        }
        return form;
      },
      signal: AbortSignal.timeout((WAIT_SECONDS + 10) * 1000),
    }),
  );
  if (typeof caption === 'string') return caption;
  throw new Failure('unavailable', `the service has not answered within ${WAIT_SECONDS} s`);
}
