/** Acceptance of a batch: stores its uploads, then the batch, and queues its first step. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ScenedeltaError } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import type { BatchRecord } from '../../stores/batches/batches.js';
import type { ApiDependencies } from '../dependencies.js';
import { acceptOnce } from '../intake/accept-once.js';
import { fingerprint } from '../intake/idempotency.js';
import { LOCAL_KEY_ID } from '../plugins/auth.js';
import { type ReadContext, readBatch } from './read.js';

type Dependencies = Pick<ApiDependencies, 'batches' | 'files' | 'queue' | 'idempotency' | 'clock'>;

/**
 * @returns the batch; an earlier one, in its current state, if the Idempotency-Key was used with the same request
 * @throws ScenedeltaError as readBatch and acceptOnce do; 'gone' if the earlier batch has been erased;
 *   'queue-unavailable': the batch does not exist, unless Redis could not erase it; then it is recovered and run
 */
export async function acceptBatch(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: Dependencies,
  context: Omit<ReadContext, 'id' | 'files'>,
): Promise<BatchRecord> {
  const { batches, files, queue, clock } = deps;
  const id = newId('bat', clock());
  try {
    const incoming = await readBatch(request, { ...context, id, files });
    const create = async () => {
      try {
        const owner = request.owner ?? LOCAL_KEY_ID;
        const { visibility } = request;
        await batches.create({ id, owner, createdAt: clock(), request: { ...incoming.request, visibility } });
        await queue.addBatch({ id, owner });
      } catch (thrown) {
        await batches.erase(id).catch(() => {});
        throw thrown;
      }
    };
    const outcome = await acceptOnce(request, reply, deps.idempotency, {
      id,
      accept: create,
      fingerprint: fingerprint(['POST /v1/batches', incoming.request, incoming.contents]),
    });
    // The same uploads lie in the folder of the earlier batch.
    if (outcome.id !== id) await files.erase(id);
    const batch = await batches.get(outcome.id);
    if (batch !== undefined) return batch;
    throw new ScenedeltaError('gone', `The batch ${outcome.id} was erased or has expired`);
  } catch (thrown) {
    // A batch that could not be erased needs its uploads. Without an answer of Redis they are left to the sweep.
    const exists = await batches.get(id).then(
      (batch) => batch !== undefined,
      () => true,
    );
    if (!exists) await files.erase(id);
    throw thrown;
  }
}
