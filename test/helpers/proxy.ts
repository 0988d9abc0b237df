/** An HTTP proxy that notes its requests and leads all of them to one port of this machine. */
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

export interface TestProxy {
  readonly url: string;
  /** method and target of each request, with its login */
  readonly asked: string[];
  close(): Promise<void>;
}

/** @param port where requests and tunnels lead to. @param refuses status that tunnels are refused with */
export async function startProxy(port: () => number, refuses?: number): Promise<TestProxy> {
  const asked: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const login = incoming.headers['proxy-authorization'];
    asked.push([incoming.method, incoming.url, ...(login === undefined ? [] : [login])].join(' '));
    const { pathname } = new URL(incoming.url ?? '');
    const to = { host: '127.0.0.1', port: port(), path: pathname, method: incoming.method ?? 'GET' };
    const onward = request({ ...to, headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  server.on('connect', (incoming, socket) => {
    asked.push(`CONNECT ${incoming.url}`);
    if (refuses !== undefined) return void socket.end(`HTTP/1.1 ${refuses} No\r\n\r\n`);
    const onward = connect(port(), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    for (const side of [onward, socket]) side.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
