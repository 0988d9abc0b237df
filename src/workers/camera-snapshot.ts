/** One pull of a camera's snapshot: fetched through the outbound guard, masked, stored, and put in the camera's line. */
import { asScenedeltaError, ScenedeltaError } from '../errors.js';
import type { FetchFrame } from '../frames/fetch.js';
import { newId, newTraceId } from '../ids.js';
import { enqueueFrame } from '../jobs/enqueue-frame.js';
import { parseJob, TurnJobSchema } from '../jobs/payloads.js';
import type { JobProducer } from '../jobs/producer.js';
import type { Logger } from '../logger.js';
import { type CameraStore, maskOf, type StoredCamera } from '../stores/cameras.js';
import type { ResultStore } from '../stores/results.js';

/** Stands in for a key's id: nobody asked for this frame. */
const SNAPSHOT = 'snapshot';
/** Where frames come faster than they are worked on, further ones would only be late. */
const MAX_WAITING = 2;

export interface SnapshotDependencies {
  readonly cameras: CameraStore;
  readonly results: ResultStore;
  readonly fetchFrame: FetchFrame;
  readonly queue: Pick<JobProducer, 'addTurn'>;
  /** how long a pull whose worker has gone keeps others from beginning: longer than one takes */
  readonly holdMs: number;
  /** epoch ms */
  readonly clock: () => number;
  readonly logger: Logger;
}

/**
 * @returns a function that pulls once (unless a pull of the camera is still under way: one that hangs must not gather others) and keeps how it ended for the camera's status. It throws only where Redis is away: the
 * next pull comes by itself.
 */
export function createSnapshotPuller(deps: SnapshotDependencies): (payload: unknown) => Promise<void> {
  const { cameras, clock } = deps;

  const pull = async (camera: StoredCamera, url: string): Promise<void> => {
    const waiting = await cameras.waitingFrames(camera.id);
    if (waiting >= MAX_WAITING) {
      throw new ScenedeltaError(
        'overloaded',
        `${waiting} frames of the camera wait already: this pull was left out`,
      );
    }
    const signal = new AbortController().signal;
    const { ref } = await deps.fetchFrame(
      { from: 'url', url },
      { field: 'snapshot', signal, mask: maskOf(camera) },
    );
    const now = clock();
    await enqueueFrame(
      camera,
      {
        comparisonId: newId('cmp', now),
        traceId: newTraceId(),
        apiKeyId: SNAPSHOT,
        frame: ref,
        capturedAt: now,
        acceptedAt: now,
        deadline: null,
        callbackUrl: null,
      },
      deps,
    );
  };

  return async (payload) => {
    const { camera: id } = parseJob(TurnJobSchema, payload);
    const camera = await cameras.get(id);
    if (camera === undefined || camera.settings.snapshot === null) return;
    const token = newTraceId();
    if (!(await cameras.beginPull(id, token, deps.holdMs))) return;
    let error: string | null = null;
    try {
      await pull(camera, camera.settings.snapshot.url);
    } catch (thrown) {
      const failure = asScenedeltaError(thrown);
      if (failure.code === 'queue-unavailable') throw failure;
      error = `${failure.code}: ${failure.message}`;
      deps.logger.warn({ camera: id, error }, 'snapshot not pulled');
    } finally {
      await cameras.endPull(id, token);
    }
    await cameras.saveSnapshot(id, { at: new Date(clock()).toISOString(), error });
  };
}

/** Seconds between two pulls, by camera: what the schedule should be. */
export async function snapshotsWanted(cameras: Pick<CameraStore, 'list'>): Promise<Map<string, number>> {
  const wanted = new Map<string, number>();
  for (let after: string | undefined; ; ) {
    const page = await cameras.list({ limit: 100, ...(after === undefined ? {} : { after }) });
    for (const { id, settings } of page) {
      if (settings.snapshot !== null) wanted.set(id, settings.snapshot.interval_s);
    }
    after = page.at(-1)?.id;
    if (after === undefined) return wanted;
  }
}
