/** Acceptance of a request once per Idempotency-Key: of a comparison, a camera's frame or a batch. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LOCAL_KEY_ID } from '../plugins/auth.js';
import type { IdempotencyRecords } from './idempotency.js';

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
  const earlier = await idempotency.reserve(reservation);
  if (earlier !== undefined) {
    reply.header('Idempotent-Replayed', 'true');
    return { id: earlier.id };
  }
  let accepted: Accepted;
  try {
    accepted = await accept();
  } catch (err) {
    await idempotency.release(reservation).catch(() => {});
    throw err;
  }
  await idempotency.confirm(reservation).catch((err: Error) => {
    request.log.warn({ resource_id: id, reason: err.message }, 'Idempotency-Key not confirmed');
  });
  return { id, accepted };
}
