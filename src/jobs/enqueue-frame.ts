/** Queues a camera's frame for the camera's turn, whether the API received it or a worker pulled it. */
import type { StoredCamera } from '../camera/settings/camera.js';
import type { Comparison } from '../schemas/comparison.js';
import type { FrameRef } from '../schemas/frame-ref.js';
import { noCamera } from '../stores/cameras/cameras.js';
import type { ComparisonRequest, ResultStore, StoredComparison } from '../stores/comparisons/results.js';
import type { JobProducer } from './producer.js';

interface AcceptedFrame
  extends Pick<
    ComparisonRequest,
    'traceId' | 'traceparent' | 'apiKeyId' | 'owner' | 'acceptedAt' | 'deadline' | 'callbackUrl'
  > {
  readonly comparisonId: string;
  /** already masked if its bytes are stored */
  readonly frame: FrameRef;
  /** epoch ms */
  readonly capturedAt: number;
  /** undefined: none */
  readonly metadata?: unknown;
}

/**
 * Once resolved, the frame will be processed, whatever crashes.
 * @returns the accepted comparison.
 * @throws ScenedeltaError 'queue-unavailable', or 'not-found' if the camera has been erased. The comparison does not
 *   exist then, unless Redis could not be reached to erase it.
 */
export async function enqueueFrame(
  { id, settings }: StoredCamera,
  accepted: AcceptedFrame,
  deps: { results: Pick<ResultStore, 'create' | 'erase'>; queue: Pick<JobProducer, 'addTurn'> },
): Promise<StoredComparison> {
  const { comparisonId, capturedAt, frame: after, metadata, acceptedAt } = accepted;
  const { traceId, traceparent, apiKeyId, owner, deadline, callbackUrl } = accepted;
  const comparison: Comparison = {
    id: comparisonId,
    camera: id,
    status: 'queued',
    created_at: new Date(acceptedAt).toISOString(),
    finished_at: null,
    ...(metadata === undefined ? {} : { metadata }),
  };
  const turn = { camera: id, capturedAt };
  const stored: StoredComparison = {
    comparison,
    frames: { before: null, after: after.from === 'stored' ? after : null },
    request: {
      traceId,
      ...(traceparent === undefined ? {} : { traceparent }),
      before: null,
      after,
      turn,
      model: settings.model,
      acceptedAt,
      deadline,
      callbackUrl,
      apiKeyId,
      owner,
    },
  };
  // Sent together, so that they wait for the disk of Redis once. Redis runs them in this order: the job must find the
  // waiting frame. Recovery adds a job that a crash left out.
  try {
    const [exists] = await Promise.all([deps.results.create(stored), deps.queue.addTurn(id)]);
    if (!exists) throw noCamera(id);
  } catch (err) {
    await deps.results.erase(comparisonId).catch(() => false);
    throw err;
  }
  return stored;
}
