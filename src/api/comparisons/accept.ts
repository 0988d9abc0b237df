/** Acceptance of a comparison: stores its frames, then the comparison, and queues a job that refers to them. */
import { ScenedeltaError } from '../../base/errors.js';
import { present } from '../../base/present.js';
import type { FrameKeeper, IncomingFrame } from '../../frames/keep.js';
import { priorityOf } from '../../jobs/producer.js';
import { unfetchedFrames } from '../../jobs/unfetched.js';
import type { Comparison } from '../../schemas/comparison.js';
import type { FrameRef, StoredFrameRef } from '../../schemas/frame-ref.js';
import type { ComparisonRequest, StoredComparison } from '../../stores/comparisons/results.js';
import { seesCamera, type Visibility } from '../../stores/redis/visibility.js';
import type { ApiDependencies, ApiOptions } from '../dependencies.js';
import type { IncomingComparison } from '../intake/request.js';
import type { RequestContext } from '../intake/respond.js';

type Dependencies = Pick<ApiDependencies, 'results' | 'cameras' | 'queue' | 'clock'> & {
  readonly keeper: FrameKeeper;
  readonly options: Pick<ApiOptions, 'deadline'>;
};

/**
 * Lets a request name only cameras of its key, because the comparison is listed with them and their masks apply to it.
 * @throws ScenedeltaError 'forbidden'; it depends on the key alone, so it does not reveal whether the camera exists
 */
export function assertCameraOfKey(camera: string | undefined, visibility: Visibility): void {
  if (camera === undefined || visibility === 'everything' || seesCamera(visibility, camera)) return;
  throw new ScenedeltaError(
    'forbidden',
    `camera is ${JSON.stringify(camera)}, expected one of the cameras of this key ` +
      `(${visibility.cameras.join(', ') || 'none'}; \`scenedelta keys create --cameras\`)`,
    { field: 'camera' },
  );
}

/**
 * Once it resolves, no crash loses the comparison: files and Redis are synced.
 * @throws ScenedeltaError 'storage-unavailable': the comparison does not exist. 'queue-unavailable': it does not exist
 * either, unless Redis was lost between a write and its answer or could not erase it; then it is recovered and run.
 */
export async function accept(
  context: RequestContext,
  incoming: IncomingComparison,
  deps: Dependencies,
): Promise<StoredComparison> {
  const { comparisonId, traceId, traceparent, apiKeyId, owner, waitSeconds } = context;
  const [before, after] = await storeFrames(incoming, deps);
  const { camera, metadata, priority = 'live' } = incoming.options;
  const settings = camera === undefined ? undefined : (await deps.cameras.get(camera))?.settings;
  const { seconds_apart: secondsApart } = incoming.options;
  const truth = incoming.options.truth ?? settings?.truth ?? undefined;
  const now = deps.clock();
  const deadlineSeconds = incoming.options.deadline_s ?? deps.options.deadline;
  const request: ComparisonRequest = {
    traceId,
    before,
    after,
    ...(settings === undefined ? {} : { byCamera: true }),
    model: incoming.options.model ?? settings?.model ?? null,
    ...present({ traceparent, truth, secondsApart }),
    acceptedAt: now,
    deadline: deadlineSeconds > 0 ? now + Math.round(deadlineSeconds * 1000) : null,
    callbackUrl: incoming.options.callback_url ?? null,
    apiKeyId,
    owner,
  };
  const comparison: Comparison = {
    id: comparisonId,
    camera: camera ?? null,
    status: 'queued',
    created_at: new Date(now).toISOString(),
    finished_at: null,
    ...(metadata === undefined ? {} : { metadata }),
  };
  const stored: StoredComparison = {
    comparison,
    frames: { before: storedOnly(before), after: storedOnly(after) },
    request,
  };
  try {
    // Sent together, so that both wait for the disk of Redis once. Redis runs them in this order: a fast worker finds
    // the comparison that it updates, and a job without a comparison is skipped.
    await Promise.all([
      deps.results.create(stored),
      deps.queue.addComparison(
        { comparisonId, traceId },
        {
          queue: priority,
          priority: priorityOf(priority, waitSeconds === 0),
          fetch: unfetchedFrames(stored).length > 0,
        },
      ),
    ]);
  } catch (err) {
    await deps.results.erase(comparisonId).catch(() => false);
    throw err;
  }
  return stored;
}

/** Stores both frames in parallel, identical ones once; frames of a camera with privacy zones are masked first. */
async function storeFrames(
  { before, after, options }: IncomingComparison,
  { cameras, keeper }: Dependencies,
): Promise<[FrameRef, FrameRef]> {
  const mask = await cameras.maskOf(options.camera ?? null);
  const kept = new Map<string, Promise<FrameRef>>();
  const store = (frame: IncomingFrame, field: string): Promise<FrameRef> => {
    const content = frame.from === 'bytes' ? frame.sha256 : JSON.stringify(frame);
    const keeping = kept.get(content) ?? keeper.keep(frame, mask, field);
    kept.set(content, keeping);
    return keeping;
  };
  return Promise.all([store(before, 'before'), store(after, 'after')]);
}

const storedOnly = (ref: FrameRef): StoredFrameRef | null => (ref.from === 'stored' ? ref : null);
