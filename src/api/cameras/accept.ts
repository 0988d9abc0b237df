/** Accepting a camera's frame: into the store (masked), into its line, and a job that somebody take the camera's turn. */
import type { Comparison } from '../../comparison.js';
import { ScenedeltaError } from '../../errors.js';
import type { ComparisonJob } from '../../jobs.js';
import { maskOf, type StoredCamera } from '../../stores/cameras.js';
import type { IncomingCameraFrame, IncomingFrame } from '../comparisons/request.js';
import type { Asked } from '../comparisons/respond.js';
import type { ApiDependencies, ApiOptions } from '../dependencies.js';
import type { FrameKeeper } from '../frame-keeper.js';
import { fingerprint } from '../idempotency.js';

type Dependencies = Pick<ApiDependencies, 'results' | 'cameras' | 'queue' | 'clock'>;

/** A camera whose frames come faster than they can be compared must not fill the store. */
const MAX_FRAMES_WAITING = 1_000;
/** Clocks differ a little; a frame from far ahead would make all that follow it late. */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/** @throws ScenedeltaError 'overloaded' where MAX_FRAMES_WAITING frames of the camera wait already. */
export async function assertRoom(camera: string, { cameras }: Pick<Dependencies, 'cameras'>): Promise<void> {
  const waiting = await cameras.waitingFrames(camera);
  if (waiting < MAX_FRAMES_WAITING) return;
  throw new ScenedeltaError(
    'overloaded',
    `${waiting} frames of ${camera} are waiting, expected fewer than ${MAX_FRAMES_WAITING}`,
  );
}

/**
 * Once resolved, nothing is lost by any crash: bytes and Redis are synced.
 * @throws ScenedeltaError 'invalid-request' naming captured_at, 'storage-unavailable' or 'queue-unavailable'; with a privacy mask
 * 'image-unreadable' or 'image-too-large' too.
 */
export async function acceptFrame(
  { comparisonId, traceId, apiKeyId }: Asked,
  camera: StoredCamera,
  { frame, options }: IncomingCameraFrame,
  deps: Dependencies & { keeper: FrameKeeper; options: Pick<ApiOptions, 'deadlineSeconds'> },
): Promise<void> {
  const now = deps.clock();
  const capturedAt = options.captured_at === undefined ? now : Date.parse(options.captured_at);
  if (capturedAt > now + CLOCK_TOLERANCE_MS) {
    throw new ScenedeltaError(
      'invalid-request',
      `captured_at is ${new Date(capturedAt).toISOString()}, expected at most ${CLOCK_TOLERANCE_MS / 1000} s after now (${new Date(now).toISOString()})`,
      { field: 'captured_at' },
    );
  }
  const after = await deps.keeper.keep(frame, maskOf(camera), 'frame');
  const deadlineSeconds = options.deadline_s ?? deps.options.deadlineSeconds;
  const job: ComparisonJob = {
    v: 1,
    comparisonId,
    traceId,
    before: null,
    after,
    turn: { camera: camera.id, capturedAt },
    model: camera.settings.model,
    acceptedAt: now,
    deadline: deadlineSeconds > 0 ? now + Math.round(deadlineSeconds * 1000) : null,
    callbackUrl: options.callback_url ?? null,
    apiKeyId,
  };
  const comparison: Comparison = {
    id: comparisonId,
    camera: camera.id,
    status: 'queued',
    created_at: new Date(now).toISOString(),
    finished_at: null,
    ...(options.metadata === undefined ? {} : { metadata: options.metadata }),
  };
  const frames = { before: null, after: after.from === 'stored' ? after : null };
  // In this order: the turn must find what stands in the line, and the job what it is to take. Recovery completes what a crash left.
  await deps.results.create({ comparison, frames, job });
  try {
    await deps.cameras.addFrame(camera.id, comparisonId, capturedAt);
    await deps.queue.addTurn(camera.id);
  } catch (err) {
    await deps.results.erase(comparisonId).catch(() => false);
    throw err;
  }
}

/** Two requests are the same when this is. */
export const frameFingerprint = (camera: string, { frame, options }: IncomingCameraFrame): string => {
  const content = (f: IncomingFrame) => (f.from === 'bytes' ? ['bytes', f.sha256] : f);
  const sorted = Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1));
  return fingerprint([`POST /v1/cameras/${camera}/frames`, content(frame), sorted]);
};
