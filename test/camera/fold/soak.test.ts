/**
 * A long sequence through the library call: nothing is missed, and neither the memory nor the state grows. `npm run
 * test:soak` sends 2,000 frames.
 */
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { frameOf, isQuiet, type Scene, sequence } from '../../helpers/sequences.js';

const FRAMES = Number(process.env.SOAK_FRAMES ?? 300);
/** A thing comes every hundred frames and stays for ten. */
const EVERY = 100;
const STAYS = 10;
/** Frames of each scene that differ by their noise; they are sent in turn. */
const VARIANTS = 16;
const PLACES: Scene['things'] = [
  [40, 120, 10, 24, [220, 40, 40]],
  [150, 60, 8, 8, [240, 240, 240]],
  [250, 130, 16, 12, [30, 30, 40]],
  [100, 30, 12, 10, [40, 180, 60]],
];

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes in use, pixels outside the heap included. Pixels are freed by finalizers, which run after a collection. */
async function usedBytes(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    collectGarbage();
    await setImmediate();
  }
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}

const variants = (scene: Scene, name: string) =>
  Promise.all(Array.from({ length: VARIANTS }, (_, i) => frameOf({ ...scene, noise: `${name} ${i}` })));

it(`${FRAMES} frames miss no change, look at few frames and keep the memory flat`, async () => {
  const empty = await variants({}, 'empty');
  const peopled = await Promise.all(PLACES.map((thing, i) => variants({ things: [thing] }, `thing ${i}`)));
  const camera = sequence({ before: 'reference' });
  const opened: number[] = [];
  const reverted: number[] = [];
  const missed: number[] = [];
  const used: number[] = [];
  let [quiet, stateBytes] = [0, 0];
  for (let i = 0; i < FRAMES; i++) {
    const since = i % EVERY;
    const shows = i >= EVERY && since < STAYS;
    const scene = shows ? peopled[Math.floor(i / EVERY) % PLACES.length] : empty;
    const result = await camera.step(scene?.[i % VARIANTS] as Buffer, i);
    if (isQuiet(result)) quiet++;
    // The first two frames with a thing are examined: the second confirms the first.
    if (shows && since < 2 && isQuiet(result)) missed.push(i);
    for (const { event } of result.changes) {
      if (event === 'change.opened') opened.push(i);
      if (event === 'change.reverted') reverted.push(i);
    }
    stateBytes = Math.max(stateBytes, JSON.stringify(result.state).length);
    // Half way a thing has come and gone, so that everything that is kept from then on is there.
    if (i === FRAMES / 2 || i === FRAMES - 1) used.push(await usedBytes());
  }
  const comings = Array.from({ length: FRAMES / EVERY - 1 }, (_, i) => (i + 1) * EVERY);
  expect(missed).toEqual([]);
  expect(opened).toEqual(comings.map((i) => i + 1));
  expect(reverted).toHaveLength(comings.length);
  expect(quiet / FRAMES).toBeGreaterThan(0.85);
  expect(stateBytes).toBeLessThan(20_000);
  const [early = 0, late = 0] = used;
  expect(late - early).toBeLessThan(8 * 1024 * 1024);
}, 600_000);
