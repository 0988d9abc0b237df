/** A reverse proxy that serves a service below a path, and another page of the same host that frames it. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ProxyOptions {
  /** e.g. '/cams/scenedelta' */
  readonly path: string;
  /** whether the proxy removes the path from requests, as the ingress of Home Assistant does */
  readonly strips: boolean;
}

/** @returns the proxy on a free port; `serve` sets the address of the service */
export async function startPathProxy({ path, strips }: ProxyOptions) {
  let target = '';
  const server = createServer((incoming, answer) => {
    const { url = '/', method, headers } = incoming;
    if (url === '/') {
      answer.setHeader('Content-Type', 'text/html');
      return answer.end(`<!doctype html><title>Another page</title><iframe src="${path}/"></iframe>`);
    }
    const isBelow = url.startsWith(`${path}/`) || (!strips && url === path);
    if (!isBelow) return answer.writeHead(404).end('another program');
    const forwarded = request(
      target + (strips ? url.slice(path.length) : url),
      { method: method as string, headers: { ...headers, 'x-ingress-path': path } },
      (response) => {
        answer.writeHead(response.statusCode as number, response.headers);
        response.pipe(answer);
      },
    );
    forwarded.on('error', () => answer.destroy());
    answer.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    url: host + path,
    serve: (address: string) => {
      target = address;
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
