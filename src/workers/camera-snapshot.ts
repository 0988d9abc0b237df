/**
 * Snapshot pull, by schedule or on request: fetches one frame of a camera through the outbound guard, masks it, stores
 * it and queues it.
 */
import { asScenedeltaError, invalidValue, ScenedeltaError } from '../base/errors.js';
import { newId, newTraceId } from '../base/ids.js';
import { maskOf, type StoredCamera } from '../camera/settings/camera.js';
import type { FetchFrame } from '../frames/fetch.js';
import { enqueueFrame } from '../jobs/enqueue-frame.js';
import { parseJob, TurnJobSchema } from '../jobs/payloads.js';
import type { JobProducer } from '../jobs/producer.js';
import type { Logger } from '../process/logger.js';
import { loginContext, openLogin } from '../secrets/login.js';
import { type CameraStore, noCamera } from '../stores/cameras/cameras.js';
import type { ResultStore } from '../stores/comparisons/results.js';

/** Instead of the id of an API key, because no request brought the frame. */
const SNAPSHOT = 'snapshot';
/** Waiting frames of the camera from which on a pull is skipped: a further frame would only be processed later. */
const MAX_WAITING = 2;

type Snapshot = NonNullable<StoredCamera['settings']['snapshot']>;

interface SnapshotDependencies {
  readonly cameras: CameraStore;
  readonly results: ResultStore;
  readonly fetchFrame: FetchFrame;
  readonly queue: Pick<JobProducer, 'addTurn'>;
  /** key of the stored logins */
  readonly loginKey: Buffer;
  /** lifetime of the lock of a pull whose worker has died: longer than a pull takes */
  readonly holdMs: number;
  /** name of this process (stores/redis/runs.ts) */
  readonly worker: string;
  /** seconds that a frame may wait; 0: no limit */
  readonly cameraDeadline: number;
  /** epoch ms */
  readonly clock: () => number;
  readonly logger: Logger;
}

export type SnapshotPuller = ReturnType<typeof createSnapshotPuller>;

export function createSnapshotPuller(deps: SnapshotDependencies) {
  const { cameras, clock } = deps;

  const loginOf = ({ id, login }: StoredCamera, url: string) =>
    login === undefined ? undefined : openLogin(login, deps.loginKey, loginContext(id, url));

  const pull = async (camera: StoredCamera, { url, certificate = null }: Snapshot): Promise<string> => {
    const waiting = await cameras.waitingFrames(camera.id);
    if (waiting >= MAX_WAITING) {
      throw new ScenedeltaError(
        'overloaded',
        `${waiting} frames of the camera are waiting already: this pull was skipped`,
      );
    }
    const signal = new AbortController().signal;
    const { ref } = await deps.fetchFrame(
      { from: 'url', url },
      { field: 'snapshot', signal, mask: maskOf(camera), login: loginOf(camera, url), certificate },
    );
    const now = clock();
    const { comparison } = await enqueueFrame(
      camera,
      {
        comparisonId: newId('cmp', now),
        traceId: newTraceId(),
        apiKeyId: SNAPSHOT,
        owner: SNAPSHOT,
        frame: ref,
        capturedAt: now,
        acceptedAt: now,
        deadline: deps.cameraDeadline > 0 ? now + deps.cameraDeadline * 1000 : null,
        callbackUrl: null,
      },
      deps,
    );
    return comparison.id;
  };

  /** Saves the outcome for the status of the camera, and logs it if it is another one than before. */
  const note = async (id: string, error: string | null): Promise<void> => {
    const before = (await cameras.snapshot(id))?.error ?? null;
    if (error === null && before !== null) deps.logger.info({ camera_id: id }, 'snapshots are pulled again');
    if (error !== null && codeOf(error) !== codeOf(before)) {
      deps.logger.warn({ camera_id: id, error }, 'snapshot not pulled');
    }
    await cameras.saveSnapshot(id, { at: new Date(clock()).toISOString(), error });
  };

  return {
    /**
     * Pulls once, for the schedule. Does nothing while another pull of the camera is under way, so that a camera that
     * hangs does not collect pulls.
     * @throws ScenedeltaError 'queue-unavailable' alone
     */
    async scheduled(payload: unknown): Promise<void> {
      const { camera: id } = parseJob(TurnJobSchema, payload);
      const camera = await cameras.get(id);
      if (camera === undefined || camera.settings.snapshot === null) return;
      const token = `${deps.worker}:${newTraceId()}`;
      if (!(await cameras.beginPull(id, token, deps.holdMs))) return;
      let error: string | null = null;
      try {
        await pull(camera, camera.settings.snapshot);
      } catch (thrown) {
        const failure = asScenedeltaError(thrown);
        if (failure.code === 'queue-unavailable') throw failure;
        error = `${failure.code}: ${failure.message}`;
      } finally {
        await cameras.endPull(id, token);
      }
      await note(id, error);
    },
    /**
     * Pulls at once, on a signal from outside.
     * @returns the id of the comparison that the frame waits for
     * @throws ScenedeltaError 'not-found', 'invalid-value' without an address, or why there is no frame
     */
    async now(id: string): Promise<string> {
      const camera = await cameras.get(id);
      if (camera === undefined) throw noCamera(id);
      if (camera.settings.snapshot === null) {
        throw invalidValue(`${id} has no snapshot address, expected one in its settings`, 'snapshot');
      }
      return pull(camera, camera.settings.snapshot);
    },
  };
}

const codeOf = (error: string | null): string | undefined => error?.split(':')[0];

/** @returns the schedule that the settings ask for: seconds between two pulls, by camera */
export async function snapshotsWanted(cameras: Pick<CameraStore, 'all'>): Promise<Map<string, number>> {
  const wanted = new Map<string, number>();
  for await (const { id, settings } of cameras.all()) {
    if (settings.snapshot !== null) wanted.set(id, settings.snapshot.interval_s);
  }
  return wanted;
}
