/** One trace from POST to webhook, as a collector of OpenTelemetry receives it, and a service without a collector. */
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { jest } from '@jest/globals';
import { eventually } from '../helpers/eventually.js';
import { type Receiver, startReceiver } from '../helpers/receiver.js';
import { changedPair } from '../helpers/scenes.js';
import { post, type Service, startService } from '../helpers/service.js';

jest.setTimeout(240_000);
const LIMIT_MS = 30_000;

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}
interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: Pick<OtlpSpan, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}
const textOf = ({ attributes }: Pick<OtlpSpan, 'attributes'>, key: string) =>
  attributes.find((attribute) => attribute.key === key)?.value.stringValue;

/** A collector that keeps the spans that it gets, with the name of their service, or never answers. */
async function startCollector() {
  const spans: (OtlpSpan & { readonly service: unknown })[] = [];
  const state = { hangs: false, requests: 0 };
  const server = createServer(async (request, response) => {
    state.requests++;
    if (state.hangs) return;
    const body = (await json(request)) as OtlpRequest;
    for (const { resource, scopeSpans } of body.resourceSpans) {
      const service = textOf(resource, 'service.name');
      for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => ({ ...span, service })));
    }
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, state, close };
}

let collector: Awaited<ReturnType<typeof startCollector>>;
let receiver: Receiver;
let service: Service;
let pair: Awaited<ReturnType<typeof changedPair>>;
beforeAll(async () => {
  [collector, receiver, pair] = [await startCollector(), await startReceiver(), await changedPair()];
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' };
  service = await startService({ env });
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  collector?.close();
});

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';

it('has the spans of a request below that of its caller, and of its webhook, with their times and no content', async () => {
  const headers = { traceparent: `00-${TRACE}-${CALLER}-01`, prefer: 'wait=30' };
  const callback_url = `${receiver.url}/hook?token=geheim`;
  const { body } = await post(service, { ...pair, callback_url, metadata: '{"note":"geheim"}' }, headers);
  expect(body.status).toBe('finished');
  const spans = () => collector.spans.filter(({ traceId }) => traceId === TRACE);
  // The processes export on their own, in any order.
  const last = ['POST /v1/comparisons', 'compare', 'deliver'];
  await eventually(() => expect(spans().map(({ name }) => name)).toEqual(expect.arrayContaining(last)), LIMIT_MS);

  const nameOf = new Map(spans().map(({ spanId, name }) => [spanId, name]));
  const tree = spans().map(({ name, service, parentSpanId = '' }) => [
    nameOf.get(parentSpanId) ?? parentSpanId,
    name,
    service,
  ]);
  const [root, api, worker] = ['POST /v1/comparisons', 'scenedelta-api', 'scenedelta-worker'];
  const below = (parent: string, ...names: string[]) => names.map((name) => [parent, name, worker]);
  const unique = [...new Set(tree.map((row) => JSON.stringify(row)))].map((row) => JSON.parse(row));
  expect(unique).toEqual(
    expect.arrayContaining([
      [CALLER, root, api],
      [root, 'accept', api],
    ]),
  );
  const expected = [
    [CALLER, root, api],
    [root, 'accept', api],
    ...below(root, 'wait in the queue', 'compare', 'deliver'),
    ...below('compare', 'read frames', 'decode', 'encode', 'register', 'caption', 'heatmap'),
    ...below('compare', 'store heatmaps', 'store result'),
    ...below('encode', 'thread encode', 'thread difference'),
    ...below('register', 'thread examine'),
    ...below('caption', 'thread encode', 'thread caption'),
  ];
  // A pair whose camera moved also has `thread align`; the small bundle may have no crops.
  const missing = expected.filter((row) => !unique.some((one) => JSON.stringify(one) === JSON.stringify(row)));
  expect(missing).toEqual([]);

  for (const { startTimeUnixNano: from, endTimeUnixNano: to } of spans()) {
    expect(BigInt(to) >= BigInt(from)).toBe(true);
  }
  const compare = spans().find(({ name }) => name === 'compare');
  expect(textOf(compare as OtlpSpan, 'scenedelta.outcome')).toBe(body.verdict);
  expect(textOf(compare as OtlpSpan, 'scenedelta.comparison_id')).toBe(body.id);
  const all = JSON.stringify(collector.spans);
  for (const secret of ['geheim', body.caption, service.headers.authorization.slice(7), receiver.url]) {
    expect(all).not.toContain(secret);
  }
  const deliver = spans().find(({ name }) => name === 'deliver');
  await eventually(() => expect(receiver.received).toHaveLength(1), LIMIT_MS);
  expect(receiver.received[0]?.headers.traceparent).toBe(`00-${TRACE}-${deliver?.spanId}-01`);
});

it('begins with the request if the caller has no trace, under the id of its answer', async () => {
  const answer = await post(service, pair);
  const traceId = answer.headers.get('trace-id');
  await eventually(() => {
    const root = collector.spans.find((span) => span.traceId === traceId && span.name.startsWith('POST'));
    expect(root).toBeDefined();
    expect(root?.parentSpanId ?? '').toBe('');
  }, LIMIT_MS);
});

it('is lost without harm while the collector hangs or is away: requests are answered, and the service stops', async () => {
  collector.state.hangs = true;
  const before = collector.state.requests;
  for (let i = 0; i < 3; i++) expect((await post(service, pair)).status).toBe(200);
  await eventually(() => expect(collector.state.requests).toBeGreaterThan(before), LIMIT_MS);
  expect((await post(service, pair)).status).toBe(200);
  collector.close();
  expect((await post(service, pair)).status).toBe(200);
  expect(await service.stop()).toEqual({ status: 0, signal: null });
});

it('loads nothing of OpenTelemetry unless a collector is set', () => {
  /** @returns each package of OpenTelemetry that the processes load, with the first package that loads it */
  const loaded = (endpoint: string | null): Record<string, string> => {
    const script = `
      import { createRequire } from 'node:module';
      const { startTracing } = await import('./dist/process/start-tracing.js');
      const entries = ['api/app', 'workers/serve-queues', 'pipeline/compare', 'batches/processor'];
      for (const name of entries) await import('./dist/' + name + '.js');
      await startTracing({ otelExporterOtlpEndpoint: ${JSON.stringify(endpoint)} }, 'api', console);
      const packageOf = (path) => /.*node_modules.((?:@[^/\\\\]+.)?[^/\\\\]+)/.exec(path)?.[1] ?? 'scenedelta';
      const found = {};
      for (const { id, children } of Object.values(createRequire(import.meta.url).cache)) {
        for (const child of children) {
          const name = packageOf(child.id);
          if (name.startsWith('@opentelemetry')) found[name] ??= packageOf(id);
        }
      }
      console.log(JSON.stringify(found));
      process.exit();`;
    return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }));
  };
  // prom-client needs it for exemplars, whether they are used or not.
  expect(loaded(null)).toEqual({ '@opentelemetry/api': 'prom-client' });
  expect(Object.keys(loaded('http://127.0.0.1:9'))).toEqual(
    expect.arrayContaining(['@opentelemetry/sdk-trace-base', '@opentelemetry/exporter-trace-otlp-http']),
  );
});
