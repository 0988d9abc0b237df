/** The schedule of snapshot pulls: one BullMQ job scheduler per camera, so that one worker of all pulls each time. */
import type { Queue } from 'bullmq';
import { jobPayload } from './payloads.js';

/** A failed pull is reported in the camera's status, and the next one follows soon. */
const SNAPSHOT_OPTIONS = { removeOnComplete: true, removeOnFail: true } as const;

/** @param intervalSeconds null: no pulls */
export async function scheduleSnapshots(queue: Queue, camera: string, intervalSeconds: number | null): Promise<void> {
  if (intervalSeconds === null) {
    await queue.removeJobScheduler(camera);
    return;
  }
  const template = { name: 'snapshot', data: jobPayload({ camera }), opts: SNAPSHOT_OPTIONS };
  await queue.upsertJobScheduler(camera, { every: intervalSeconds * 1000 }, template);
}

/**
 * Corrects schedules that a crash between a camera's settings and its schedule left.
 * @param wanted seconds by camera
 */
export async function reconcileSnapshots(queue: Queue, wanted: ReadonlyMap<string, number>): Promise<void> {
  const scheduled = new Map((await queue.getJobSchedulers()).map(({ key, every }) => [key, Number(every) / 1000]));
  for (const camera of scheduled.keys()) {
    if (!wanted.has(camera)) await scheduleSnapshots(queue, camera, null);
  }
  for (const [camera, seconds] of wanted) {
    if (scheduled.get(camera) !== seconds) await scheduleSnapshots(queue, camera, seconds);
  }
}
