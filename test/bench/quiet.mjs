/**
 * `npm run bench -- quiet [--frames=200] [--write]`: the commands of Redis of a quiet 1080p frame, by step. The frames
 * are sent in turn, each with a client that waits for its result. `npm run bench -- cameras` measures their CPU time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { readOptions } from '../../scripts/lib/options.mjs';
import { createCameras } from './lib/camera-clients.mjs';
import { cameraSequences } from './lib/camera-sequences.mjs';
import { report } from './lib/report.mjs';
import { numberOption, startService } from './lib/service.mjs';

readOptions({ frames: { type: 'string' }, write: { type: 'boolean' } });
const frames = numberOption('frames', 200);
const CAMERAS = 8;
const SENDERS = 2;
const WARM_UP_FRAMES = 12;
const SEQUENCE = 20;
/** Time in which the last lines of MONITOR arrive. */
const SETTLED_MS = 500;

/** Steps by the command that the client sends; the commands that a script runs count for the script. */
const STEPS = [
  ['API', 'reads the camera and its waiting frames', /^(hget|zcard) sd:cam:/],
  ['API', 'accepts the frame', /^evalsha \S+ \d+ sd:events /],
  ['API', 'queues the job (BullMQ)', /^evalsha \S+ 9 sd:q:/],
  ['API', 'follows the events, and reads the result', /^(xread|hmget sd:cmp:)/],
  ['worker', 'asks for jobs (BullMQ)', /^(evalsha \S+ 11 sd:q:|bzpopmin sd:q:)/],
  ['worker', 'takes the turn', /^evalsha \S+ 5 sd:cam:\S+:turn .* sd:news:/],
  ['worker', 'saves the frame, frees the turn', /^evalsha \S+ 5 sd:cam:\S+:turn /],
  ['worker', 'ends the job, asks for the next (BullMQ)', /^evalsha \S+ 14 sd:q:/],
  ['both', 'others: counts of jobs, presence, maintenance', /^/],
];

/** @returns commands per step while `work` runs */
async function counted(redis, work) {
  const counts = STEPS.map(() => 0);
  let step = STEPS.length - 1;
  const monitor = await redis.monitor();
  monitor.on('monitor', (_time, [name, ...args], source) => {
    const text = [name.toLowerCase(), ...args.slice(0, 8)].join(' ');
    if (source !== 'lua') step = STEPS.findIndex(([, , pattern]) => pattern.test(text));
    counts[step]++;
  });
  await work();
  await sleep(SETTLED_MS);
  monitor.disconnect();
  return counts;
}

const service = await startService();
const redis = new Redis(service.redisUrl.replace('unix://', ''));
try {
  const { quiet } = await cameraSequences(SEQUENCE);
  const cameras = createCameras(service, quiet, { name: 'quiet', settings: {} });
  await cameras.warmUp(CAMERAS, WARM_UP_FRAMES);
  const counts = await counted(redis, () => cameras.inTurn(CAMERAS, { senders: SENDERS, frames }));
  await cameras.close();
  const all = counts.reduce((total, count) => total + count, 0);
  const rows = STEPS.map(([by, step], i) => [by, step, (counts[i] / frames).toFixed(1)]);
  report(
    'quiet',
    'A quiet frame: commands of Redis by step',
    [['by', 'step', 'commands per frame'], ...rows, ['', 'all', (all / frames).toFixed(1)]],
    [
      `${frames} frames of ${CAMERAS} cameras in turn, ${SENDERS} at a time. Commands that a script runs count as well. ` +
        'The others come by the clock, so a frame has fewer of them on a faster machine.',
    ],
  );
} finally {
  redis.disconnect();
  await service.stop();
}
