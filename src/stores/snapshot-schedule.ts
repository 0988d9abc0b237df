/** Which cameras are asked for snapshots, and how often: BullMQ job schedulers, so that one worker of all asks each time. */
import type { Queue } from 'bullmq';
import type { TurnJob } from '../jobs/payloads.js';

/** A pull that comes to nothing is said in the camera's status; the next one follows soon. */
const SNAPSHOT_OPTIONS = { removeOnComplete: true, removeOnFail: true } as const;

/** @param intervalSeconds null: no more */
export async function scheduleSnapshots(
  queue: Queue,
  camera: string,
  intervalSeconds: number | null,
): Promise<void> {
  if (intervalSeconds === null) {
    await queue.removeJobScheduler(camera);
    return;
  }
  const data: TurnJob = { v: 1, camera };
  await queue.upsertJobScheduler(
    camera,
    { every: intervalSeconds * 1000 },
    { name: 'snapshot', data, opts: SNAPSHOT_OPTIONS },
  );
}

/** Puts right what a crash between the settings and their schedule left. @param wanted seconds by camera */
export async function reconcileSnapshots(queue: Queue, wanted: ReadonlyMap<string, number>): Promise<void> {
  const scheduled = new Map(
    (await queue.getJobSchedulers()).map(({ key, every }) => [key, Number(every) / 1000]),
  );
  for (const camera of scheduled.keys()) {
    if (!wanted.has(camera)) await scheduleSnapshots(queue, camera, null);
  }
  for (const [camera, seconds] of wanted) {
    if (scheduled.get(camera) !== seconds) await scheduleSnapshots(queue, camera, seconds);
  }
}
