/** Alert rules of Prometheus, checked by promtool, and the Grafana dashboard. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createWorkerMetrics } from '../../src/workers/metrics.js';
import { fakeApp } from '../helpers/fake-app.js';

const RULES = 'deploy/prometheus/rules.yaml';
interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}
const dashboard: { uid: string; panels: Panel[]; templating: { list: { name: string; query: unknown }[] } } =
  JSON.parse(readFileSync('deploy/grafana/dashboards/scenedelta.json', 'utf8'));
const rules: { alert: string; expr: string }[] = parse(readFileSync(RULES, 'utf8')).groups.flatMap(
  (group: { rules: object[] }) => group.rules,
);
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** @returns undefined: it is not installed */
function promtool(...args: string[]): { status: number | null; output: string } | undefined {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return error === undefined ? { status, output: stdout + stderr } : undefined;
}
// `npm test` installs it, or says that it cannot.
const withPromtool = promtool('--version') === undefined ? it.skip : it;

describe('the alert rules', () => {
  withPromtool('are valid for promtool, with the configuration that loads them', () => {
    const { status, output } = promtool('check', 'config', 'deploy/prometheus/prometheus.yaml') ?? {};
    expect([status, output]).toEqual([0, expect.stringContaining(`SUCCESS: ${rules.length} rules found`)]);
  });

  withPromtool('fire and stay silent as their unit tests say', () => {
    const { status, output } = promtool('test', 'rules', 'deploy/prometheus/rules.test.yaml') ?? {};
    expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });

  it('have a unit test each, with a time at which it fires, and a row in docs/operations.md', () => {
    const { tests } = parse(readFileSync('deploy/prometheus/rules.test.yaml', 'utf8'));
    const firing = tests.flatMap(({ alert_rule_test: checks }: { alert_rule_test: object[] }) =>
      (checks as { alertname: string; exp_alerts: object[] }[])
        .filter(({ exp_alerts: expected }) => expected.length > 0)
        .map(({ alertname }) => alertname),
    );
    const names = rules.map(({ alert }) => alert);
    expect([...new Set(firing)].sort()).toEqual([...names].sort());
    const documented = [...readFileSync('docs/operations.md', 'utf8').matchAll(/^\| `(Scenedelta\w+)` \|/gm)];
    expect(documented.map(([, name]) => name).sort()).toEqual([...names].sort());
  });
});

describe('the dashboard', () => {
  it('is what scripts/write-dashboard.mjs writes', () => {
    execFileSync(process.execPath, ['scripts/write-dashboard.mjs', '--check']);
  });

  withPromtool('has queries that Prometheus can parse', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sd-promql-'));
    const file = join(folder, 'rules.yaml');
    const asRules = expressions.map((expr, i) => ({
      record: `query:${i}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$camera', '.*'),
    }));
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: asRules }] }));
    const { status, output } = promtool('check', 'rules', file) ?? {};
    rmSync(folder, { recursive: true });
    expect([status, output]).toEqual([0, expect.stringContaining(`SUCCESS: ${expressions.length} rules found`)]);
  });

  it('has no panel over another one, and none beyond the grid', () => {
    const taken = new Set<string>();
    for (const { title, gridPos } of dashboard.panels) {
      expect([title, gridPos.x + gridPos.w]).toEqual([title, expect.any(Number)]);
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect([title, taken.has(`${x} ${y}`)]).toEqual([title, false]);
          taken.add(`${x} ${y}`);
        }
      }
    }
  });
});

it('rules and dashboard name only metrics that the API or a worker has', async () => {
  const { app } = await fakeApp();
  const scrapes = [(await app.inject({ url: '/metrics' })).body, await createWorkerMetrics().registry.metrics()];
  await app.close();
  const existing = new Set(scrapes.flatMap((text) => [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name)));
  const texts = [...rules.map(({ expr }) => expr), ...expressions, JSON.stringify(dashboard.templating)];
  const named = texts.flatMap((text) => text.match(/\b(?:scenedelta|process|nodejs)_\w+/g) ?? []);
  const unknown = named.filter(
    (name) => !existing.has(name) && !existing.has(name.replace(/_(bucket|count|sum)$/, '')),
  );
  expect(new Set(unknown)).toEqual(new Set());
  expect(new Set(named).size).toBeGreaterThan(20);
});
