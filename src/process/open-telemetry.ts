/** The tracer by OpenTelemetry: sends spans as OTLP over HTTP (JSON). tracing.ts loads it if an endpoint is set. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, type Span as OtelSpan, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, RandomIdGenerator } from '@opentelemetry/sdk-trace-base';
import { ScenedeltaError } from '../base/errors.js';
import { VERSION } from '../base/version.js';
import { within } from '../base/within.js';
import type { Logger } from './logger.js';
import type { Span, SpanOptions, Tracer } from './tracing.js';

/** A collector that hangs holds up neither the requests nor the shutdown. */
const EXPORT_LIMIT_MS = 5_000;
const CLOSE_LIMIT_MS = 2_000;
/** Least time between two lines of the log about spans that could not be sent. */
const COMPLAIN_EVERY_MS = 60_000;
const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

/** A trace that begins here has the trace id of the request, which the logs and the answer show. */
class IdsOfRequests extends RandomIdGenerator {
  next: string | undefined;
  override generateTraceId = (): string => this.next ?? randomTraceId();
}
const randomTraceId = new RandomIdGenerator().generateTraceId;

/** @param endpoint base address of the collector; OTEL_EXPORTER_OTLP_HEADERS has what it wants beside */
export function createTracer(endpoint: string, process: string, logger: Logger): Tracer {
  const ids = new IdsOfRequests();
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: EXPORT_LIMIT_MS });
  const provider = new BasicTracerProvider({
    idGenerator: ids,
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES come last.
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': `scenedelta-${process}`, 'service.version': VERSION }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter, { exportTimeoutMillis: EXPORT_LIMIT_MS })],
  });
  const spans = provider.getTracer('scenedelta', VERSION);
  const current = new AsyncLocalStorage<Context>();
  complainAtMost(logger);

  const contextOf = (parent: string | undefined): Context => {
    if (parent === undefined) return current.getStore() ?? ROOT_CONTEXT;
    const remote = parseTraceParent(parent);
    return remote === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true });
  };
  const begin = (name: string, { parent, traceId, kind, from, attributes }: SpanOptions) => {
    const above = contextOf(parent);
    ids.next = traceId;
    const span = spans.startSpan(
      name,
      {
        ...(kind === undefined ? {} : { kind: KINDS[kind] }),
        ...(from === undefined ? {} : { startTime: from }),
        ...(attributes === undefined ? {} : { attributes }),
      },
      above,
    );
    ids.next = undefined;
    return { span, context: trace.setSpan(above, span) };
  };

  return {
    async run(name, options, work) {
      const { span, context } = begin(name, options);
      try {
        return await current.run(context, () => work(handleOf(span)));
      } catch (thrown) {
        // Messages of errors may quote addresses.
        const message = thrown instanceof ScenedeltaError ? thrown.code : 'internal';
        span.setStatus({ code: SpanStatusCode.ERROR, message });
        throw thrown;
      } finally {
        span.end();
      }
    },
    add(name, options, to) {
      begin(name, options).span.end(Math.max(to, options.from ?? to));
    },
    close: () =>
      within(
        CLOSE_LIMIT_MS,
        provider.shutdown().catch(() => {}),
        undefined,
      ),
  };
}

function handleOf(span: OtelSpan): Span {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    set: (attributes) => void span.setAttributes(attributes),
  };
}

function complainAtMost(logger: Logger): void {
  let last = Number.NEGATIVE_INFINITY;
  setGlobalErrorHandler((error) => {
    if (performance.now() - last < COMPLAIN_EVERY_MS) return;
    last = performance.now();
    const reason = error instanceof Error ? error.message : JSON.stringify(error);
    logger.warn({ reason: reason.slice(0, 300) }, 'spans not sent to OTEL_EXPORTER_OTLP_ENDPOINT');
  });
}
