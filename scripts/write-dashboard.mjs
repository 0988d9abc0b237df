/**
 * `node scripts/write-dashboard.mjs [--check]` writes the Grafana dashboard deploy/grafana/dashboards/scenedelta.json
 * from the tables below. `--check` writes nothing and fails if the file differs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions } from './lib/options.mjs';
import { ROOT, runMain, Stop } from './lib/shell.mjs';

const FILE = 'deploy/grafana/dashboards/scenedelta.json';
/** Size of a panel in the 24 columns and the rows of Grafana's grid. */
const [WIDTH, HEIGHT] = [8, 7];

const CAMERA = 'camera=~"$camera"';
const quantile = (q, metric, by, labels) =>
  `histogram_quantile(${q}, sum by (${['le', ...by].join(', ')}) (rate(${metric}_bucket{${labels}}[$__rate_interval])))`;
const perSecond = (metric, by, labels = '') => `sum by (${by}) (rate(${metric}{${labels}}[$__rate_interval]))`;
const STAGES = 'scenedelta_stage_duration_seconds';
const FAILED = 'outcome!~"none|nuisance|change|tamper|unknown|final|cancelled|erased"';

/** Rows of panels: [title, unit, { legend: expression }, options]. */
const ROWS = {
  'At a glance': [
    ['Oldest waiting job', 's', { '{{queue}}': 'max by (queue) (scenedelta_queue_oldest_seconds)' }, { red: 60 }],
    ['Waiting and active jobs', 'short', { '{{queue}} {{state}}': 'max by (queue, state) (scenedelta_queue_jobs)' }],
    ['Comparisons by outcome', 'reqps', { '{{outcome}}': perSecond('scenedelta_comparisons_total', 'outcome') }],
    ['Failed comparisons', 'reqps', { '{{outcome}}': perSecond('scenedelta_comparisons_total', 'outcome', FAILED) }],
    [
      'Refused requests',
      'reqps',
      { '{{route}} {{status}}': perSecond('scenedelta_http_problems_total', 'route, status') },
    ],
    ['Deliveries of webhooks', 'reqps', { '{{outcome}}': perSecond('scenedelta_delivery_attempts_total', 'outcome') }],
  ],
  Cameras: [
    [
      'Time since the last frame',
      's',
      {
        '{{camera}}':
          `(time() - max by (camera) (max_over_time(scenedelta_camera_last_frame_timestamp_seconds{${CAMERA}}[1d]))) ` +
          'and on (camera) scenedelta_camera_false_alarms_per_day',
      },
      { red: 900 },
    ],
    [
      'Dark, blocked, out of focus, moved',
      'short',
      {
        '{{camera}} {{tamper}}': `sum by (camera, tamper) (increase(scenedelta_camera_tampered_frames_total{${CAMERA}}[15m]))`,
      },
    ],
    [
      'Frozen cameras',
      'short',
      { '{{camera}}': `sum by (camera) (increase(scenedelta_camera_frozen_frames_total{${CAMERA}}[10m])) > 0` },
    ],
    ['Frames by verdict', 'reqps', { '{{verdict}}': perSecond('scenedelta_camera_frames_total', 'verdict', CAMERA) }],
    [
      'Quiet share',
      'percentunit',
      {
        '{{camera}}':
          `sum by (camera) (rate(scenedelta_camera_quiet_frames_total{${CAMERA}}[1h])) / ` +
          `sum by (camera) (rate(scenedelta_camera_frames_total{${CAMERA}}[1h]))`,
      },
    ],
    [
      'Alerts within a day, and the budget',
      'short',
      {
        '{{camera}} {{outcome}}': `sum by (camera, outcome) (increase(scenedelta_alerts_total{${CAMERA}}[1d]))`,
        '{{camera}} budget': `max by (camera) (scenedelta_camera_false_alarms_per_day{${CAMERA}} > 0)`,
      },
    ],
  ],
  Latency: [
    ['Requests, 95 %', 's', { '{{route}}': quantile(0.95, 'scenedelta_http_request_duration_seconds', ['route'], '') }],
    [
      'Comparison from acceptance to result, 95 %',
      's',
      { '{{queue}}': quantile(0.95, STAGES, ['queue'], 'stage="total"') },
    ],
    ['Wait in the queue, 95 %', 's', { '{{queue}}': quantile(0.95, STAGES, ['queue'], 'stage="queue"') }],
    ['Stages of live comparisons, median', 's', { '{{stage}}': quantile(0.5, STAGES, ['stage'], 'queue="live"') }],
    ['Model, 95 %', 's', { '{{stage}}': quantile(0.95, STAGES, ['stage'], 'stage=~"encode|caption"') }],
    [
      'Features found in the cache',
      'percentunit',
      {
        share:
          'sum(rate(scenedelta_feature_cache_lookups_total{outcome="hit"}[$__rate_interval])) / ' +
          'sum(rate(scenedelta_feature_cache_lookups_total[$__rate_interval]))',
      },
    ],
  ],
  Machine: [
    ['Memory', 'bytes', { '{{job}} {{instance}}': 'process_resident_memory_bytes{job=~"scenedelta-.+"}' }],
    [
      'Processor',
      'short',
      { '{{job}} {{instance}}': 'rate(process_cpu_seconds_total{job=~"scenedelta-.+"}[$__rate_interval])' },
    ],
    [
      'Event-loop delay, 99 %',
      's',
      { '{{job}} {{instance}}': 'nodejs_eventloop_lag_p99_seconds{job=~"scenedelta-.+"}' },
    ],
    ['Disk of DATA_DIR', 'bytes', { '{{state}}': 'max by (state) (scenedelta_data_bytes)' }],
    ['Uploaded frames', 'Bps', { bytes: 'sum(rate(scenedelta_frame_bytes_total[$__rate_interval]))' }],
    [
      'Models of workers',
      'short',
      { '{{model}} {{version}} {{provider}}': 'sum by (model, version, provider) (scenedelta_model_info)' },
    ],
    ['Open event streams', 'short', { streams: 'sum(scenedelta_event_streams)' }],
    [
      'Accepted comparisons',
      'reqps',
      { '{{form}} {{queue}}': perSecond('scenedelta_comparisons_accepted_total', 'form, queue') },
    ],
  ],
};

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the dashboard
const datasource = { type: 'prometheus', uid: '${datasource}' };

function panel([title, unit, targets, { red } = {}], id, x, y) {
  const steps = [{ color: 'green', value: null }, ...(red === undefined ? [] : [{ color: 'red', value: red }])];
  return {
    id,
    type: 'timeseries',
    title,
    datasource,
    gridPos: { x, y, w: WIDTH, h: HEIGHT },
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        custom: { thresholdsStyle: { mode: red === undefined ? 'off' : 'line' } },
        thresholds: { mode: 'absolute', steps },
      },
      overrides: [],
    },
    options: { legend: { displayMode: 'list', placement: 'bottom', showLegend: true }, tooltip: { mode: 'multi' } },
    targets: Object.entries(targets).map(([legendFormat, expr], i) => ({
      refId: String.fromCharCode(65 + i),
      datasource,
      expr,
      legendFormat,
    })),
  };
}

function panels() {
  const all = [];
  let y = 0;
  for (const [title, row] of Object.entries(ROWS)) {
    all.push({
      id: all.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    });
    y++;
    const perLine = 24 / WIDTH;
    for (const [i, one] of row.entries()) {
      all.push(panel(one, all.length + 1, (i % perLine) * WIDTH, y + Math.floor(i / perLine) * HEIGHT));
    }
    y += Math.ceil(row.length / perLine) * HEIGHT;
  }
  return all;
}

const camera = 'label_values(scenedelta_camera_frames_total, camera)';
const DASHBOARD = {
  uid: 'scenedelta',
  title: 'scenedelta',
  tags: ['scenedelta'],
  schemaVersion: 39,
  version: 1,
  editable: true,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  timezone: 'browser',
  templating: {
    list: [
      { name: 'datasource', type: 'datasource', label: 'Data source', query: 'prometheus' },
      {
        ...{ name: 'camera', type: 'query', label: 'Camera', datasource, refresh: 2, sort: 1 },
        ...{ includeAll: true, multi: true, allValue: '.*', current: { text: 'All', value: '$__all' } },
        ...{ definition: camera, query: { query: camera, refId: 'cameras' } },
      },
    ],
  },
  annotations: { list: [] },
  links: [],
  panels: panels(),
};

await runMain(async () => {
  const { values } = readOptions({ check: { type: 'boolean', default: false } });
  const text = `${JSON.stringify(DASHBOARD, null, 2)}\n`;
  if (!values.check) return writeFileSync(join(ROOT, FILE), text);
  if (readFileSync(join(ROOT, FILE), 'utf8') !== text) {
    throw new Stop(`${FILE} is out of date: run node scripts/write-dashboard.mjs`);
  }
});
