/**
 * Spans of a trace, from a request to its webhook. Without OTEL_EXPORTER_OTLP_ENDPOINT there are none: nothing of
 * OpenTelemetry is loaded, and `traced` only calls its work. One tracer per process, as OpenTelemetry itself has it: a
 * span may begin in any layer, and the layers between need not know of it.
 */

/** Values without frames, captions, keys and addresses: ids, names, numbers. */
type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanOptions {
  /** W3C traceparent of the span above; absent: the span in which this one begins */
  readonly parent?: string | undefined;
  /** 32 hex digits, of a trace that begins with this span */
  readonly traceId?: string;
  /** role of the process in the exchange; default: internal */
  readonly kind?: 'server' | 'client' | 'producer' | 'consumer';
  /** epoch ms; default: now */
  readonly from?: number;
  readonly attributes?: SpanAttributes;
}

export interface Span {
  /** W3C traceparent, to hand on; undefined without tracing */
  readonly traceparent: string | undefined;
  set(attributes: SpanAttributes): void;
}

export interface Tracer {
  /** Runs `work` in a span, which has failed if it throws. */
  run<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  /** Adds a span that has ended. @param to epoch ms */
  add(name: string, options: SpanOptions, to: number): void;
  /** Sends what is left, for a limited time. */
  close(): Promise<void>;
}

const NO_SPAN: Span = { traceparent: undefined, set: () => {} };
let tracer: Tracer | undefined;

/** @param started undefined: no spans from now on */
export function setTracer(started: Tracer | undefined): void {
  tracer = started;
}

/** Runs `work` in a span of this name. */
export const traced = <T>(name: string, work: (span: Span) => Promise<T>, options: SpanOptions = {}): Promise<T> =>
  tracer === undefined ? work(NO_SPAN) : tracer.run(name, options, work);

/** Adds a span of something that has ended, from `options.from` to `to` (epoch ms). */
export const addSpan = (name: string, options: SpanOptions, to: number): void => tracer?.add(name, options, to);
