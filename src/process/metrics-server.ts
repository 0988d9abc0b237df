/** Server of the metrics of a process that has no other HTTP server. */
import { createServer } from 'node:http';
import type { Registry } from 'prom-client';
import { whilePending } from '../base/while-pending.js';

/** Serves GET /metrics and /livez. @param port 0: no server. @returns how to close it. */
export async function serveMetrics(
  { registry }: { readonly registry: Registry },
  { host, port }: { host: string; port: number },
): Promise<{ close(): Promise<void> }> {
  if (port === 0) return { close: async () => {} };
  const exposition = whilePending(() => registry.metrics());
  const server = createServer(async (req, res) => {
    if (req.url === '/livez') return res.end('{"alive":true}\n');
    if (req.url !== '/metrics') return res.writeHead(404).end();
    res.setHeader('content-type', registry.contentType);
    res.end(await exposition());
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
