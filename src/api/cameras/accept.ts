/** Acceptance of a camera's frame: stores it (masked), adds it to the camera's waiting frames, and queues a turn. */
import { invalidValue, ScenedeltaError } from '../../base/errors.js';
import { maskOf, type StoredCamera } from '../../camera/settings/camera.js';
import type { FrameKeeper } from '../../frames/keep.js';
import { enqueueFrame } from '../../jobs/enqueue-frame.js';
import type { StoredComparison } from '../../stores/comparisons/results.js';
import type { ApiDependencies, ApiOptions } from '../dependencies.js';
import type { IncomingCameraFrame } from '../intake/request.js';
import type { RequestContext } from '../intake/respond.js';
import { parseTime } from '../parse-time.js';

type Dependencies = Pick<ApiDependencies, 'results' | 'cameras' | 'queue' | 'clock'>;

/** Most waiting frames per camera, so that a camera faster than the workers does not fill the store. */
const MAX_FRAMES_WAITING = 1_000;
/** Tolerated clock difference. A frame from the far future would make all later frames out of order. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** @throws ScenedeltaError 'overloaded' if MAX_FRAMES_WAITING frames of the camera are waiting */
export async function assertCameraCapacity(camera: string, { cameras }: Pick<Dependencies, 'cameras'>): Promise<void> {
  const waiting = await cameras.waitingFrames(camera);
  if (waiting < MAX_FRAMES_WAITING) return;
  throw new ScenedeltaError(
    'overloaded',
    `${waiting} frames of ${camera} are waiting, expected fewer than ${MAX_FRAMES_WAITING}`,
  );
}

/**
 * Once it resolves, no crash loses the frame: files and Redis are synced.
 * @throws ScenedeltaError 'invalid-value' naming captured_at, 'storage-unavailable' or 'queue-unavailable' as
 * `accept` does; with a privacy mask also 'image-unreadable' or 'image-too-large'
 */
export async function acceptFrame(
  context: RequestContext,
  camera: StoredCamera,
  { frame, options }: IncomingCameraFrame,
  deps: Dependencies & { keeper: FrameKeeper; options: Pick<ApiOptions, 'cameraDeadline'> },
): Promise<StoredComparison> {
  const now = deps.clock();
  const { captured_at } = options;
  const capturedAt = captured_at === undefined ? now : parseTime(captured_at, 'captured_at');
  if (capturedAt > now + CLOCK_TOLERANCE_MS) {
    throw invalidValue(
      `captured_at is ${new Date(capturedAt).toISOString()}, expected at most ` +
        `${CLOCK_TOLERANCE_MS / 1000} s after now (${new Date(now).toISOString()})`,
      'captured_at',
    );
  }
  const after = await deps.keeper.keep(frame, maskOf(camera), 'frame');
  const deadlineSeconds = options.deadline_s ?? deps.options.cameraDeadline;
  return enqueueFrame(
    camera,
    {
      ...context,
      frame: after,
      capturedAt,
      acceptedAt: now,
      deadline: deadlineSeconds > 0 ? now + Math.round(deadlineSeconds * 1000) : null,
      callbackUrl: options.callback_url ?? null,
      metadata: options.metadata,
    },
    deps,
  );
}
