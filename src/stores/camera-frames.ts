/** A camera's frame enters its line: sent by somebody (the API) or pulled by us (a worker). */

import type { FrameRef } from '../jobs/payloads.js';
import type { Comparison } from '../schemas/comparison.js';
import { type CameraStore, noCamera, type StoredCamera } from './cameras.js';
import type { ResultStore, StoredComparison } from './results.js';

export interface AcceptedFrame {
  readonly comparisonId: string;
  readonly traceId: string;
  readonly apiKeyId: string;
  /** masked already, where its bytes are stored */
  readonly frame: FrameRef;
  /** epoch ms, as the three others */
  readonly capturedAt: number;
  readonly acceptedAt: number;
  readonly deadline: number | null;
  readonly callbackUrl: string | null;
  /** undefined: none */
  readonly metadata?: unknown;
}

/**
 * Once resolved, the frame will be worked on, whatever crashes.
 * @returns its comparison as it was accepted.
 * @throws ScenedeltaError 'queue-unavailable', or 'not-found' where the camera has been erased meanwhile; then there is no comparison, unless
 *   Redis could not be asked to erase it.
 */
export async function enterFrame(
  { id, settings }: StoredCamera,
  accepted: AcceptedFrame,
  deps: {
    results: Pick<ResultStore, 'create' | 'erase'>;
    cameras: Pick<CameraStore, 'addFrame'>;
    addTurn: (camera: string) => Promise<void>;
  },
): Promise<StoredComparison> {
  const { comparisonId, capturedAt, frame: after, metadata, traceId, apiKeyId } = accepted;
  const comparison: Comparison = {
    id: comparisonId,
    camera: id,
    status: 'queued',
    created_at: new Date(accepted.acceptedAt).toISOString(),
    finished_at: null,
    ...(metadata === undefined ? {} : { metadata }),
  };
  const stored: StoredComparison = {
    comparison,
    frames: { before: null, after: after.from === 'stored' ? after : null },
    job: {
      v: 1,
      comparisonId,
      traceId,
      before: null,
      after,
      turn: { camera: id, capturedAt },
      model: settings.model,
      acceptedAt: accepted.acceptedAt,
      deadline: accepted.deadline,
      callbackUrl: accepted.callbackUrl,
      apiKeyId,
    },
  };
  // In this order: the turn must find what stands in the line, and the job what it is to take. Recovery completes what a crash left.
  try {
    await deps.results.create(stored);
    if (!(await deps.cameras.addFrame(id, comparisonId, capturedAt))) throw noCamera(id);
    await deps.addTurn(id);
  } catch (err) {
    await deps.results.erase(comparisonId).catch(() => false);
    throw err;
  }
  return stored;
}
