/** A proxy in front of a service that answers some requests wrongly, to prove that the fuzzer notices. */
import { createServer, request } from 'node:http';

/** A plain parameter crashes the handler. */
const crashes = (url) => url.pathname === '/v1/changes' && url.searchParams.has('limit');
/** An answer has another type than its description says. */
const lies = (url) => url.pathname === '/livez';

/** @returns {Promise<{ url: string, close: () => Promise<void> }>} */
export async function plantFaults(target) {
  const server = createServer((asked, answer) => {
    const url = new URL(asked.url, target);
    if (asked.method === 'GET' && crashes(url)) {
      answer.writeHead(500, { 'content-type': 'application/problem+json' });
      return answer.end('{"type":"about:blank","title":"planted","status":500,"detail":"planted"}');
    }
    if (asked.method === 'GET' && lies(url)) {
      answer.writeHead(200, { 'content-type': 'application/json', 'trace-id': 'planted' });
      return answer.end('{"alive":"yes"}');
    }
    const passed = request(url, { method: asked.method, headers: asked.headers }, (from) => {
      answer.writeHead(from.statusCode, from.headers);
      from.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(closed);
      }),
  };
}
