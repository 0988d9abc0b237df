/** A camera's web server that writes raw bytes, and the client of the service that fetches from it. */
import { createServer, type Server, type Socket } from 'node:net';
import { createOutboundClient, type OutboundClient } from '../../src/outbound/client.js';

export const MAX_BYTES = 200_000;
export interface RawCamera {
  /** number of connections so far */
  connections(): number;
  fetch(maxBytes?: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** @param answer called with the number of the connection from 0 and the head of the request, after it has come */
export async function startRawCamera(
  answer: (socket: Socket, number: number, request: string) => void,
  timeoutMs = 5_000,
): Promise<RawCamera> {
  let connections = 0;
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    const number = connections++;
    let request = '';
    socket.on('data', (bytes) => {
      request += bytes.toString('latin1');
      if (!request.includes('\r\n\r\n')) return;
      const head = request;
      request = '';
      answer(socket, number, head);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  const client: OutboundClient = createOutboundClient({ outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: timeoutMs });
  return {
    connections: () => connections,
    fetch: (maxBytes = MAX_BYTES) =>
      client.fetchImage(`http://127.0.0.1:${port}/snap.jpg`, { maxBytes, field: 'snapshot' }),
    async close() {
      await client.close();
      await new Promise((done) => server.close(done));
    },
  };
}

export const OK = 'HTTP/1.1 200 OK';
export const head = (lines: readonly string[], eol = '\r\n') => Buffer.from(lines.join(eol) + eol + eol, 'latin1');
export const chunk = (bytes: Buffer, eol = '\r\n') =>
  Buffer.concat([Buffer.from(bytes.length.toString(16) + eol), bytes, Buffer.from(eol)]);
/** A part of `stream`. */
export const part = (lines: readonly string[], bytes: Buffer, eol = '\r\n') =>
  Buffer.concat([Buffer.from(`--b${eol}`), head(lines, eol), bytes, Buffer.from(eol)]);
export const stream = (...parts: Buffer[]) =>
  Buffer.concat([head([OK, 'Content-Type: multipart/x-mixed-replace; boundary=b']), ...parts]);
