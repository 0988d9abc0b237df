/** Start of tracing in a process, if a collector is set: only then OpenTelemetry is loaded. */
import type { Config } from './config.js';
import type { Logger } from './logger.js';
import { setTracer } from './tracing.js';

/**
 * @param process 'api' or 'worker', for the name of the service in the traces
 * @returns how to end: the remaining spans are sent, for a limited time
 */
export async function startTracing(
  { otelExporterOtlpEndpoint: endpoint }: Pick<Config, 'otelExporterOtlpEndpoint'>,
  process: string,
  logger: Logger,
): Promise<{ close(): Promise<void> }> {
  if (endpoint === null) return { close: async () => {} };
  const { createTracer } = await import('./open-telemetry.js');
  const tracer = createTracer(endpoint, process, logger);
  setTracer(tracer);
  return {
    close: async () => {
      setTracer(undefined);
      await tracer.close();
    },
  };
}
