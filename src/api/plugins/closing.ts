/** The way out: what is under way is answered to its last byte, what comes later is refused, and no client holds the process. */
import type { ServerResponse } from 'node:http';
import { ScenedeltaError } from '../../errors.js';
import type { Api } from '../dependencies.js';

/**
 * Node's server, told to close, destroys connections whose answer is written but not sent yet, and waits for those that a client keeps for
 * its next request. So it is told when no answer is under way any more, and those given meanwhile say that they are the last.
 * @param release ends what waits for something to happen
 */
export function useClosing(app: Api, release: () => void): void {
  const underWay = new Set<ServerResponse>();
  let closing = false;
  let onLast = () => {};
  app.addHook('onRequest', async (_request, { raw }) => {
    if (closing) throw new ScenedeltaError('closing', 'This process is closing and takes nothing new');
    underWay.add(raw);
    // also where the client went away
    raw.once('close', () => {
      underWay.delete(raw);
      if (underWay.size === 0) onLast();
    });
  });
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('Connection', 'close');
  });
  app.addHook('preClose', async () => {
    closing = true;
    release();
    if (underWay.size === 0) return;
    await new Promise<void>((resolve) => {
      onLast = resolve;
    });
  });
}
