/**
 * A disk that fills up under the whole service, and has space again later. The test mounts a file system of its own.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../helpers/eventually.js';
import { changedPair, sceneJpeg } from '../helpers/scenes.js';
import { finished, get, newDataDir, post, type Service, startService } from '../helpers/service.js';

const disk = newDataDir();
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', disk]).status === 0;
if (!mounted) process.stderr.write('SKIPPED: test/e2e/full-disk.test.ts cannot mount a file system here\n');
const whenMounted = mounted ? it : it.skip;

const filler = join(disk, 'filler');
/** Writes until nothing more fits, as another program would. */
function fillDisk(): void {
  const file = openSync(filler, 'a');
  try {
    for (const size of [1 << 20, 1 << 12, 1]) {
      for (const block = Buffer.alloc(size); ; ) {
        try {
          writeSync(file, block);
        } catch {
          break;
        }
      }
    }
  } finally {
    closeSync(file);
  }
}

let service: Service;
let pair: { before: Buffer; after: Buffer };
let done: string;
beforeAll(async () => {
  if (!mounted) return;
  pair = await changedPair();
  service = await startService({ dataDir: join(disk, 'data') });
  done = (await post(service, pair)).body.id;
}, 200_000);
afterAll(async () => {
  await service?.stop();
  if (mounted) spawnSync('umount', ['-l', disk]);
  rmSync(disk, { recursive: true, force: true });
}, 60_000);

whenMounted(
  'what must be stored is 503, reads are served, and no process is lost',
  async () => {
    const { api } = await service.processes();
    fillDisk();
    const fresh = { before: await sceneJpeg({ seed: 1 }), after: await sceneJpeg({ seed: 2, object: true }) };
    await eventually(async () => expect((await post(service, fresh)).status).toBe(503), 30_000);
    // For a while: a Redis that is restarted again and again would be away in between.
    for (let i = 0; i < 20; i++) {
      await eventually(async () => expect((await get(service, `/v1/comparisons/${done}`)).status).toBe(200), 15_000);
      expect((await get(service, '/livez')).status).toBe(200);
      expect((await post(service, { ...fresh, camera: `c${i}` })).status).toBe(503);
      await new Promise((next) => setTimeout(next, 100));
    }
    expect((await service.processes()).api).toBe(api);
    expect(service.process.exitCode).toBeNull();
  },
  120_000,
);

whenMounted(
  'space again: work is accepted and finished, and what was done before is still there',
  async () => {
    rmSync(filler);
    await eventually(async () => expect((await post(service, pair)).status).toBe(200), 60_000);
    expect((await finished(service, done)).status).toBe('finished');
    expect((await service.stop()).status).toBe(0);
  },
  120_000,
);
