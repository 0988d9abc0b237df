/** The list of metrics in docs/operations.md, compared with the metrics of an API and a worker. */
import { readFileSync } from 'node:fs';
import { createWorkerMetrics } from '../../src/workers/metrics.js';
import { fakeApp } from '../helpers/fake-app.js';

const ROW = /^\| `(\w+)` \| (API|worker) \|/gm;

/** @returns 'name of' each metric of a scrape, without the ones of prom-client itself */
const namesIn = (scrape: string, process: string) =>
  [...scrape.matchAll(/^# TYPE (\w+) /gm)]
    .map(([, name = '']) => name)
    .filter((name) => !/^(process|nodejs)_/.test(name))
    .map((name) => `${name} ${process}`);

it('docs/operations.md lists exactly the metrics that the API and a worker have', async () => {
  const { app } = await fakeApp();
  const api = (await app.inject({ url: '/metrics' })).body;
  const worker = await createWorkerMetrics().registry.metrics();
  await app.close();
  const documented = [...readFileSync('docs/operations.md', 'utf8').matchAll(ROW)].map(
    ([, name, process]) => `${name} ${process}`,
  );
  expect(documented.sort()).toEqual([...namesIn(api, 'API'), ...namesIn(worker, 'worker')].sort());
  for (const scrape of [api, worker]) {
    for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds']) {
      expect(scrape).toContain(`\n${name} `);
    }
  }
});
