/**
 * Recovery: completes the steps that a crash or a store that refused interrupted. It queues an accepted comparison that
 * has no job, and the webhook of an ended one. Every step is idempotent.
 */
import { ScenedeltaError } from '../base/errors.js';
import { alertIdOf, comparisonIdOf, newTraceId } from '../base/ids.js';
import type { EnqueueDelivery } from '../jobs/enqueue-delivery.js';
import type { JobProducer } from '../jobs/producer.js';
import { unfetchedFrames } from '../jobs/unfetched.js';
import type { Logger } from '../process/logger.js';
import { isFinal } from '../schemas/finding.js';
import type { CameraStore } from '../stores/cameras/cameras.js';
import type { ChangeStore } from '../stores/changes/changes.js';
import type { ResultStore } from '../stores/comparisons/results.js';
import type { DeliveryStore } from '../stores/delivery/deliveries.js';
import type { ComparisonProcessor } from './comparison-job.js';
import type { WorkerMetrics } from './metrics.js';

/** Longer than any interval between two steps of a job, so that running jobs are left alone. */
export const RECOVER_AFTER_MS = 30_000;
const AT_ONCE = 500;
const AT_MOST = 100_000;

interface RecoveryDependencies {
  readonly results: ResultStore;
  readonly deliveries: DeliveryStore;
  readonly changes: Pick<ChangeStore, 'alert'>;
  readonly cameras: Pick<CameraStore, 'addFrame'>;
  readonly queue: Pick<JobProducer, 'addComparison' | 'addDelivery' | 'addTurn' | 'states' | 'forget'>;
  readonly enqueueDelivery: Pick<EnqueueDelivery, 'ofComparison' | 'ofAlert'>;
  readonly giveUp: ComparisonProcessor['giveUp'];
  readonly metrics: Pick<WorkerMetrics, 'comparison'>;
  readonly clock: () => number;
  readonly logger: Logger;
}

/** @returns a function that runs one round and counts what it recovered. */
export function createRecovery(deps: RecoveryDependencies): () => Promise<{ comparisons: number; deliveries: number }> {
  const { results, deliveries, queue, logger } = deps;
  /** cameras with frames that have waited too long; one turn job per camera is enough */
  const waitingCameras = new Set<string>();

  const giveUp = async (id: string, error: ScenedeltaError): Promise<boolean> => {
    const ended = await deps.giveUp(id, error);
    if (ended) deps.metrics.comparison('recovery', { kind: 'failed', error });
    return ended;
  };

  const recoverComparison = async (id: string, state: 'absent' | 'completed' | 'failed'): Promise<boolean> => {
    const stored = await results.get(id);
    if (stored === undefined || isFinal(stored.comparison.status)) return false;
    if (stored.request.turn !== undefined) return recoverFrame(id, stored.request.turn);
    // A job that has ended without saving how: a store refused, or the worker died in between.
    if (state !== 'absent') await queue.forget('comparison', id);
    await queue.addComparison(
      { comparisonId: id, traceId: stored.request.traceId },
      { fetch: unfetchedFrames(stored).length > 0 },
    );
    logger.warn({ comparison_id: id, trace_id: stored.request.traceId }, 'comparison had no job, queued again');
    return true;
  };

  /** A camera's frame has no job of its own: it waits for its turn, or a crash has kept it from the waiting frames. */
  const recoverFrame = async (id: string, turn: { camera: string; capturedAt: number }): Promise<boolean> => {
    if (!(await deps.cameras.addFrame(turn.camera, id, turn.capturedAt))) {
      return giveUp(id, new ScenedeltaError('gone', `the camera ${turn.camera} was erased`));
    }
    waitingCameras.add(turn.camera);
    return false;
  };

  const recoverDelivery = async (id: string, state: 'absent' | 'completed' | 'failed'): Promise<boolean> => {
    const delivery = await deliveries.get(id);
    // An alert waits under the id of its first delivery until its deliveries are created, all in one step.
    const [stored, alert] = await Promise.all([
      results.get(comparisonIdOf(id)),
      deps.changes.alert(delivery?.alert ?? alertIdOf(id)),
    ]);
    if (delivery === undefined ? alert === undefined && stored === undefined : delivery.state !== 'pending') {
      await deliveries.forget(id);
      return false;
    }
    if (state !== 'absent') await queue.forget('delivery', id);
    const traceId = alert?.traceId ?? stored?.request.traceId ?? newTraceId();
    if (delivery !== undefined) await queue.addDelivery({ deliveryId: id, traceId });
    else if (alert !== undefined) await deps.enqueueDelivery.ofAlert(alert);
    else if (stored !== undefined) await deps.enqueueDelivery.ofComparison(stored);
    logger.warn({ delivery_id: id, trace_id: traceId }, 'delivery had no job, queued again');
    return true;
  };

  const recover = async (
    kind: 'comparison' | 'delivery',
    ids: readonly string[],
    one: (id: string, state: 'absent' | 'completed' | 'failed') => Promise<boolean>,
  ): Promise<number> => {
    let recovered = 0;
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const chunk = ids.slice(start, start + AT_ONCE);
      const states = await queue.states(kind, chunk);
      for (const [i, id] of chunk.entries()) {
        const state = states[i];
        if (state !== undefined && state !== 'held' && (await one(id, state))) recovered++;
      }
    }
    return recovered;
  };

  return async () => {
    const before = deps.clock() - RECOVER_AFTER_MS;
    waitingCameras.clear();
    const comparisons = await recover('comparison', await results.unfinished(before, AT_MOST), recoverComparison);
    for (const camera of waitingCameras) await queue.addTurn(camera);
    return {
      comparisons,
      deliveries: await recover('delivery', await deliveries.overdue(before, AT_MOST), recoverDelivery),
    };
  };
}
