/**
 * Graceful closing: running requests are answered completely, new ones are refused, and idle clients are disconnected.
 */
import type { ServerResponse } from 'node:http';
import { ScenedeltaError } from '../../base/errors.js';
import type { Api } from '../dependencies.js';

/**
 * server.close() of Node destroys connections whose answer is written but not yet sent, and waits for idle keep-alive
 * connections. So it is called only when no answer is pending, and answers until then carry `Connection: close`.
 * @param release ends all waits for outcomes and events
 */
export function useClosing(app: Api, release: () => void): void {
  const pending = new Set<ServerResponse>();
  let closing = false;
  let onLast = () => {};
  app.addHook('onRequest', async (_request, { raw }) => {
    if (closing) throw new ScenedeltaError('closing', 'This process is closing and takes nothing new');
    pending.add(raw);
    // 'close' also follows a disconnection of the client.
    raw.once('close', () => {
      pending.delete(raw);
      if (pending.size === 0) onLast();
    });
  });
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('Connection', 'close');
  });
  app.addHook('preClose', async () => {
    closing = true;
    release();
    if (pending.size === 0) return;
    await new Promise<void>((resolve) => {
      onLast = resolve;
    });
  });
}
