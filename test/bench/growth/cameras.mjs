/** How the cost of a quiet frame grows with the number of cameras. */
import { createCameras } from '../lib/camera-clients.mjs';
import { cameraSequences } from '../lib/camera-sequences.mjs';
import { ms } from '../lib/report.mjs';
import { startService } from '../lib/service.mjs';

const COUNTS = [1, 10, 50, 100, 200, 500];
const FRAMES = 40;
/** Frames per camera before the figures, in which the service learns the camera. */
const WARM_UP_FRAMES = 4;
const SENDERS = 8;
/** Frames whose processor time is measured, of all cameras in turn. */
const MEASURED = 400;
const SECONDS = 5;
const LEAST_QUIET = 0.95;

const COST = 'CPU-ms per frame';
const WAIT = 'to the result, p95 ms';
const percent = (share) => `${(100 * share).toFixed(0)} %`;

export const cameras = {
  name: 'cameras',
  title: 'Cameras',
  x: { label: 'cameras with one quiet 1080p frame per second', type: 'log', ticks: COUNTS },
  y: { label: 'ms', type: 'log' },
  series: [COST, WAIT],
  columns: { quiet: percent },
  notes: [
    `CPU-ms of API, worker and Redis: ${MEASURED} frames of the cameras in turn, ${SENDERS} at a time. To the result: ` +
      `${SECONDS} s of one frame per second and camera, from the acceptance of a frame. The client shares the cores.`,
  ],
  async measure() {
    const service = await startService({ build: false });
    try {
      const { quiet } = await cameraSequences(FRAMES);
      const clients = createCameras(service, quiet, { name: 'growth', settings: {} });
      const rows = [];
      await clients.warmUp(SENDERS, WARM_UP_FRAMES);
      await clients.inTurn(SENDERS, { senders: SENDERS, frames: MEASURED });
      for (const count of COUNTS) {
        await clients.warmUp(count, WARM_UP_FRAMES);
        const cost = await clients.inTurn(count, { senders: SENDERS, frames: MEASURED });
        const { p95, quiet: share } = await clients.onePerSecond(count, SECONDS);
        if (share < LEAST_QUIET) throw new Error(`${percent(share)} of the frames are quiet, expected nearly all`);
        rows.push({ x: count, [COST]: cost, [WAIT]: p95, quiet: share });
        console.error(`${count} cameras: ${ms(cost)} CPU-ms per frame, p95 ${ms(p95)} ms`);
      }
      await clients.close();
      return rows;
    } finally {
      await service.stop();
    }
  },
  sentence(rows) {
    const costs = rows.map((row) => row[COST]);
    const kept = rows.filter((row) => row[WAIT] < 1_000).at(-1);
    const waits = rows.find((row) => row[WAIT] >= 1_000);
    return (
      `A quiet frame costs ${ms(Math.min(...costs))} to ${ms(Math.max(...costs))} CPU-ms whatever the number of ` +
      `cameras. The wait bends where the cores are busy all the time: with ${kept?.x ?? 0} cameras 95 % of the frames ` +
      `have their result within ${ms(kept?.[WAIT] ?? 0)} ms` +
      (waits === undefined
        ? '.'
        : `, with ${waits.x} they queue for ${(waits[WAIT] / 1000).toFixed(1)} s after ${SECONDS} s.`)
    );
  },
};
