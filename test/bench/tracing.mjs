/**
 * `npm run bench -- tracing [--rounds=5] [--count=100]`: CPU time per comparison with a collector of OpenTelemetry and
 * without one, with the small bundle, so that the rest costs little. Both services take their rounds in turns.
 */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { ensureBuild } from '../../scripts/lib/packages.mjs';
import { ROOT } from '../../scripts/lib/shell.mjs';
import { fullHdPairs } from './lib/pairs.mjs';
import { ms, percentile } from './lib/report.mjs';
import { cpuMs, formOf, numberOption, startService } from './lib/service.mjs';

const rounds = numberOption('rounds', 5);
const count = numberOption('count', 100);
await ensureBuild();
let exports = 0;
const collector = createServer((request, response) => {
  exports++;
  request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
});
await new Promise((done) => collector.listen(0, '127.0.0.1', done));
const SMALL = { MODELS_DIR: join(ROOT, 'test/fixtures'), DEFAULT_MODEL: 'bundle-tiny', INFERENCE_THREADS: '1' };
const endpoint = `http://127.0.0.1:${collector.address().port}`;
const [pair] = await fullHdPairs();
const form = formOf(pair);
const off = await startService({ env: SMALL, build: false });
const on = await startService({ env: { ...SMALL, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, build: false });

/** @returns CPU-ms of API and worker per comparison */
async function round(service) {
  const cpu = () => cpuMs(service.pid('api')) + cpuMs(service.pid('worker'));
  const before = cpu();
  for (let i = 0; i < count; i++) {
    const answer = await fetch(`${service.url}/v1/comparisons`, { method: 'POST', ...form });
    if (answer.status !== 200) throw new Error(`POST answered ${answer.status}`);
    await answer.arrayBuffer();
  }
  return (cpu() - before) / count;
}

try {
  for (const service of [off, on]) await round(service);
  const ratios = [];
  for (let i = 0; i < rounds; i++) {
    const [without, traced] = [await round(off), await round(on)];
    ratios.push(traced / without);
    console.log(`without ${ms(without)}, with ${ms(traced)} of CPU time per comparison`);
  }
  console.log(`ratio with / without: median ${percentile(ratios, 0.5).toFixed(3)}, ${exports} exports`);
} finally {
  await Promise.all([off.stop(), on.stop()]);
  collector.close();
}
