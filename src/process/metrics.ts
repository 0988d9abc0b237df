/** Registry of the metrics of a process, Node's included, and short constructors of them. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  // Dashboards and alert rules expect the names process_* and nodejs_*, without a prefix.
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    counter: <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <L extends string>(name: string, help: string, ...labelNames: L[]) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: <L extends string>(name: string, help: string, labelNames: L[], buckets: number[]) =>
      new Histogram({ name, help, labelNames, buckets, registers }),
    /** A gauge that has only the values that `collect` sets at a scrape. */
    scraped: <L extends string>(
      name: string,
      help: string,
      labelNames: L[],
      collect: (gauge: Gauge<L>) => void | Promise<void>,
    ): void =>
      void new Gauge({
        name,
        help,
        labelNames,
        registers,
        async collect() {
          this.reset();
          await collect(this);
        },
      }),
  };
}
