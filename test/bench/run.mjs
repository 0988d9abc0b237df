/**
 * `npm run bench [-- NAME [OPTIONS]]`: builds what the bench NAME.mjs needs, and runs it. Without a NAME the sections
 * of RESULTS.md are measured (main.mjs).
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, run, runMain, Stop } from '../../scripts/lib/shell.mjs';

/** Bench -> the script that builds what it needs; null: it starts a service, which is built first. */
const BENCHES = {
  accept: null,
  before: 'build:program',
  budget: 'build',
  cameras: null,
  device: 'build:program',
  footage: 'build',
  'footage-long': 'build',
  glitches: 'build',
  growth: 'build',
  latency: null,
  load: null,
  manifest: 'build',
  model: null,
  outages: 'build:program',
  overhead: null,
  peers: 'build',
  quiet: null,
  replay: null,
  rules: 'build',
  scale: 'build',
  search: null,
  start: null,
  tracing: null,
  viewpoint: 'build',
  views: 'build:program',
  visits: 'build',
  when: 'build',
  yard: null,
};

await runMain(async () => {
  const [first = 'main', ...rest] = process.argv.slice(2);
  const [name, options] = first.startsWith('-') ? ['main', [first, ...rest]] : [first, rest];
  const build = name === 'main' ? 'build' : BENCHES[name];
  if (build === undefined) throw new Stop(`${name}: expected one of ${Object.keys(BENCHES).join(', ')}`);
  if (build !== null && existsSync(join(ROOT, 'src'))) {
    const { ok } = await run('npm', ['run', '--silent', build], { show: true });
    if (!ok) throw new Stop('The build failed');
  }
  const { status } = await run(process.execPath, [join(ROOT, 'test/bench', `${name}.mjs`), ...options], { show: true });
  process.exitCode = status ?? 1;
});
