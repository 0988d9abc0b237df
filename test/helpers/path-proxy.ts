/** Reverse proxies that serve a service below a path, and another page of the same host that frames it. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findNginx } from '../../scripts/lib/test-servers.mjs';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

interface ProxyOptions {
  /** e.g. '/cams/scenedelta' */
  readonly path: string;
  /** whether the proxy removes the path from requests, as the ingress of Home Assistant does */
  readonly strips: boolean;
}

interface PathProxy {
  readonly host: string;
  readonly url: string;
  /** @param address of the service */
  serve(address: string): Promise<void>;
  stop(): Promise<void>;
}
const pageWith = (path: string) => `<!doctype html><title>Another page</title><iframe src="${path}/"></iframe>`;

/** @returns the proxy on a free port; `serve` sets the address of the service */
export async function startPathProxy({ path, strips }: ProxyOptions): Promise<PathProxy> {
  let target = '';
  const server = createServer((incoming, answer) => {
    const { url = '/', method, headers } = incoming;
    if (url === '/') {
      answer.setHeader('Content-Type', 'text/html');
      return answer.end(pageWith(path));
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
    serve: async (address) => {
      target = address;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The program; undefined if it is not installed. */
export const nginx = findNginx();

/** As startPathProxy, by nginx with the location of deploy/README.md, which removes the path. */
export async function startNginx({ path }: Pick<ProxyOptions, 'path'>): Promise<PathProxy> {
  if (nginx === undefined) throw new Error('nginx is missing');
  const folder = await mkdtemp(join(tmpdir(), 'sd-nginx-'));
  const port = await freePort();
  const host = `http://127.0.0.1:${port}`;
  let ended: Promise<unknown> = Promise.resolve();
  let end = () => {};
  return {
    host,
    url: host + path,
    async serve(address) {
      const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const temporary = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ');
      const config = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
        events {}
        http { access_log off; ${temporary}
          server { listen 127.0.0.1:${port};
            location = / { default_type text/html; return 200 '${pageWith(path)}'; }
            location ${path}/ {
              proxy_pass ${address}/;
              proxy_http_version 1.1;
              proxy_set_header Host $http_host;
              proxy_buffering off;
            } } }`;
      await writeFile(join(folder, 'nginx.conf'), config);
      const server = spawn(nginx as string, ['-p', folder, '-c', 'nginx.conf', '-e', 'error.log'], { stdio: 'ignore' });
      ended = new Promise((resolve) => server.once('close', resolve));
      end = () => server.kill('SIGTERM');
      await eventually(async () => expect((await fetch(host)).status).toBe(200));
    },
    async stop() {
      end();
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}
