/** Acceptance of a request once per Idempotency-Key: of a comparison, a camera's frame or a batch. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUnavailable } from '../../stores/redis/redis.js';
import { LOCAL_KEY_ID } from '../plugins/auth.js';
import { ACCEPTING_SECONDS, type IdempotencyRecords } from './idempotency.js';

/** Pause before a release that failed is tried again: Redis has read by then what earlier connections had sent. */
const RELEASE_PAUSE_MS = 1_000;

export interface Acceptable<Accepted> {
  /** equal for equal requests, see fingerprint() */
  readonly fingerprint: string;
  /** of the new comparison or batch */
  readonly id: string;
  /** Once it resolves, no crash loses the work. If it throws, the resource does not exist. */
  readonly accept: () => Promise<Accepted>;
}

/**
 * Throws nothing after the acceptance, because a caller that gets an error sends the request again.
 * @returns the id of the request's resource, and what `accept` returned if the resource is new; it is an earlier one if
 *   the Idempotency-Key was used before
 * @throws ScenedeltaError 'idempotency-mismatch', 'idempotency-in-flight'; as `accept` does
 */
export async function acceptOnce<Accepted>(
  request: FastifyRequest,
  reply: FastifyReply,
  idempotency: IdempotencyRecords,
  { fingerprint, id, accept }: Acceptable<Accepted>,
): Promise<{ readonly id: string; readonly accepted?: Accepted }> {
  const apiKeyId = request.apiKeyId ?? LOCAL_KEY_ID;
  const key = request.headers['idempotency-key'] as string | undefined;
  if (key === undefined) return { id, accepted: await accept() };
  const reservation = { apiKeyId, key, fingerprint, id };
  const release = () => idempotency.release(reservation);
  const earlier = await idempotency.reserve(reservation).catch((err) => {
    // Its answer may be lost, and not the reservation.
    if (isUnavailable(err)) void releaseLater(release);
    throw err;
  });
  if (earlier !== undefined) {
    reply.header('Idempotent-Replayed', 'true');
    return { id: earlier.id };
  }
  let accepted: Accepted;
  try {
    accepted = await accept();
  } catch (err) {
    await release().catch(() => void releaseLater(release));
    throw err;
  }
  await idempotency.confirm(reservation).catch((err: Error) => {
    request.log.warn({ resource_id: id, reason: err.message }, 'Idempotency-Key not confirmed');
  });
  return { id, accepted };
}

/** The Redis that refused the request may refuse its release, too. Later than this another request takes the key. */
async function releaseLater(release: () => Promise<void>): Promise<void> {
  for (let left = ACCEPTING_SECONDS * 1000; left > 0; left -= RELEASE_PAUSE_MS) {
    await sleep(RELEASE_PAUSE_MS, undefined, { ref: false });
    const isReleased = await release().then(
      () => true,
      () => false,
    );
    if (isReleased) return;
  }
}
