/**
 * `npm run bench:archive [-- --turns=3] [--write]`: one camera's recording on one core and on two, with one comparison
 * at a time and with two: by `scenedelta footage`, and as a batch of the service with one worker and with two.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readOptions, wholeNumber } from '../../scripts/lib/options.mjs';
import { runMain, Stop } from '../../scripts/lib/shell.mjs';
import { footage } from './lib/footage-run.mjs';
import { scenesOf, writeRecording } from './lib/footage-video.mjs';
import { report } from './lib/report.mjs';
import { cpuMs, startService } from './lib/service.mjs';

/** Seconds from one thing to the next: a change every ten seconds. */
const SLOT = 20;
const START = '2026-06-01T12:00:00Z';
const MODES = ['previous', 'memory'];
const ENV = { INFERENCE_THREADS: '1' };

await runMain(async () => {
  const { values } = readOptions({ turns: { type: 'string', default: '3' }, write: { type: 'boolean' } });
  const turns = wholeNumber('turns', values.turns);
  const folder = mkdtempSync(join(tmpdir(), 'sd-archive-'));
  try {
    const [scene] = await scenesOf(undefined);
    const { file } = await writeRecording(folder, { ...scene, slot: SLOT }, 1);
    const rows = [];
    for (const before of MODES) {
      const settings = { before };
      writeFileSync(join(folder, 'camera.json'), JSON.stringify(settings));
      const command = (jobs) => () =>
        footage([file], join(folder, 'out'), ['-c', join(folder, 'camera.json'), '--jobs', String(jobs)]);
      const batch = (workers) => () => runBatch(file, settings, workers);
      rows.push(...(await inTurn(`footage, ${before}`, turns, ['--jobs 1', '--jobs 2'], [command(1), command(2)])));
      rows.push(...(await inTurn(`batch, ${before}`, turns, ['1 worker', '2 workers'], [batch(1), batch(2)])));
    }
    report(
      'bench:archive',
      'One archive on one core and on two',
      [['what', 'on two cores', 'wall time of one core / this, per turn', 'CPU time of this / one core'], ...rows],
      ['A made recording of 110 s, one key frame per second, eight changes. One inference thread per worker.'],
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Runs the first on one core, then all on both, so often. @returns a row per run on both */
async function inTurn(name, turns, names, runs) {
  const found = names.map(() => ({ wall: [], cpu: [] }));
  for (let turn = 0; turn < turns; turn++) {
    pin('0');
    const alone = await runs[0]();
    pin('0-1');
    for (const [i, run] of runs.entries()) {
      const { wall, cpu } = await run();
      found[i].wall.push(alone.wall / wall);
      found[i].cpu.push(cpu / alone.cpu);
    }
  }
  const list = (numbers) => numbers.map((number) => number.toFixed(2)).join(', ');
  const rows = found.map(({ wall, cpu }, i) => [name, names[i], list(wall), list(cpu)]);
  for (const row of rows) console.error(row.join(' | '));
  return rows;
}

/** Cores of this process and of those that it starts. */
function pin(cores) {
  execFileSync('taskset', ['-a', '-p', '-c', cores, String(process.pid)], { stdio: 'ignore' });
}

/** @returns seconds from the upload to the end, and CPU seconds of the workers meanwhile */
async function runBatch(file, settings, workers) {
  const service = await startService({ workers, env: ENV, niceness: 0 });
  try {
    const names = Array.from({ length: workers }, (_, i) => (i === 0 ? 'worker' : `worker-${i + 1}`));
    const cpu = () => names.reduce((sum, name) => sum + cpuMs(service.pid(name)), 0) / 1000;
    const form = new FormData();
    form.append('request', JSON.stringify({ start: START, every: '1s', settings }));
    form.append('footage', new Blob([readFileSync(file)]), 'yard.mp4');
    const [begun, cpuBefore] = [performance.now(), cpu()];
    const created = await fetch(`${service.url}/v1/batches`, { method: 'POST', body: form });
    if (created.status !== 202) throw new Stop(`POST /v1/batches answered ${created.status}: ${await created.text()}`);
    const { id } = await created.json();
    for (;;) {
      const { status } = await (await fetch(`${service.url}/v1/batches/${id}`)).json();
      if (status === 'completed') break;
      if (status !== 'queued' && status !== 'running') throw new Stop(`the batch is ${status}`);
      await pause(50);
    }
    return { wall: (performance.now() - begun) / 1000, cpu: cpu() - cpuBefore };
  } finally {
    await service.stop();
  }
}
