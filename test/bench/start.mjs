/**
 * `npm run bench -- start [--count=10] [--write]`: time from the start of `scenedelta compare` to its end, for the
 * example pair, beside a bare Node process that opens the same optimised graphs. Both start in turn.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBuild } from '../../scripts/lib/packages.mjs';
import { ROOT } from '../../scripts/lib/shell.mjs';
import { ms, percentile, report } from './lib/report.mjs';
import { cpuMs, numberOption } from './lib/service.mjs';

const count = numberOption('count', 10);
await ensureBuild();
const dataDir = mkdtempSync(join(tmpdir(), 'sd-bench-'));

/** Runs Node to its end. @returns wall time and CPU time, ms */
function timed(args) {
  const [start, before] = [performance.now(), cpuMs('self')];
  const { status, stderr } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const wall = performance.now() - start;
  if (status !== 0) throw new Error(`${args[0]} ended with ${status}: ${stderr}`);
  // The CPU time of this process contains that of its ended children.
  return { wall, cpu: cpuMs('self') - before };
}

const bareScript = fileURLToPath(new URL('./bare-start.mjs', import.meta.url));
const compare = () => timed([join(ROOT, 'bin/scenedelta.js'), 'compare', 'examples/before.jpg', 'examples/after.jpg']);
const openGraphs = () =>
  timed([bareScript, ...readdirSync(join(dataDir, 'graphs')).map((name) => join(dataDir, 'graphs', name))]);

try {
  const first = compare();
  openGraphs(); // reads the runtime's library from the disk
  const runs = Array.from({ length: count }, () => ({ again: compare(), bare: openGraphs() }));
  const median = (of) => percentile(runs.map(of), 0.5);
  const row = (name, { wall, cpu }, most) => [name, ms(wall), most === undefined ? '' : ms(most), ms(cpu)];
  const medians = (of) => ({ wall: median((run) => of(run).wall), cpu: median((run) => of(run).cpu) });
  const slowest = (of) => Math.max(...runs.map((run) => of(run).wall));
  const [again, bare] = [({ again }) => again, ({ bare }) => bare].map((of) => ({
    ...medians(of),
    slowest: slowest(of),
  }));
  report(
    'start',
    'Start: `scenedelta compare` of one pair',
    [
      ['process', 'median ms', 'slowest ms', 'median CPU-ms'],
      row('compare, on a machine that never ran it (graphs are optimised)', first),
      row('compare, again', again, again.slowest),
      row('bare process that opens the same optimised graphs', bare, bare.slowest),
      ['compare again / bare process', (again.wall / bare.wall).toFixed(2), '', (again.cpu / bare.cpu).toFixed(2)],
    ],
    [`${count} runs each, in turn, with the example pair (768 x 576).`],
  );
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
