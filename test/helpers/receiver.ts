/** An HTTP server on 127.0.0.1, as the receiver of webhooks or as a camera. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly bytes?: Buffer;
}
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Resolves when this number of requests has arrived. */
  count(requests: number): Promise<void>;
  close(): Promise<void>;
}

/** @param port 0: any */
export async function startReceiver(
  answer: (request: Received, response: ServerResponse) => void = (_request, response) => response.end(),
  port = 0,
): Promise<Receiver> {
  const received: Received[] = [];
  let heard = () => {};
  const server = createServer(async (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const one = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers as Record<string, string>,
      body: bytes.toString('utf8'),
      bytes,
    };
    received.push(one);
    heard();
    answer(one, response);
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async count(requests) {
      while (received.length < requests) {
        await new Promise<void>((done) => {
          heard = done;
        });
      }
    },
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
