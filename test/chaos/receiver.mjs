/**
 * A receiver of webhooks that flaps: it fails the first attempt of every fifth delivery in one of four ways. It keeps
 * accepted payloads by the query of the address, and counts requests that came although its 200 was recorded.
 */
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

const FAILING = 0.2;
/** Time to read the service's record: Redis may be away. */
const READ_LIMIT_MS = 1_000;
const FAILURES = [
  (_request, response) => response.writeHead(500).end(),
  (_request, response) => response.writeHead(503, { 'retry-after': '1' }).end(),
  (request) => request.socket.destroy(),
  // No answer: the attempt ends by its timeout.
  () => {},
];

/**
 * @param {{ next: () => number, attemptsOf: (id: string) => Promise<{ error: string | null }[]> }} options next:
 *   uniform in [0, 1); attemptsOf: attempts of a delivery that the service has recorded; host: the address of the
 *   receiver
 * @returns {Promise<{ url: (query: string) => string, accepted: Map<string, Map<string, object>>, afterRecorded:
 *   string[], repeated: string[], close: () => void }>} accepted: payloads by webhook-id, by query; afterRecorded,
 *   repeated: queries of the posts after a recorded 200, and of those after a 200 that was not recorded
 */
export async function startReceiver({ next, attemptsOf, host = '127.0.0.1' }) {
  const accepted = new Map();
  const seen = new Set();
  const done = new Set();
  const after = { afterRecorded: [], repeated: [] };
  const server = createServer(async (request, response) => {
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      // The sender was killed while it sent.
      return;
    }
    const id = request.headers['webhook-id'];
    const query = new URL(request.url, 'http://receiver').search.slice(1);
    if (!seen.has(id) && next() < FAILING) {
      seen.add(id);
      FAILURES[Math.floor(next() * FAILURES.length)](request, response);
      return;
    }
    seen.add(id);
    if (done.has(id)) {
      // Unrecorded, the repetition is right: the worker may have died between the 200 and the record.
      const read = attemptsOf(id).catch(() => []);
      const attempts = await Promise.race([read, pause(READ_LIMIT_MS, [], { ref: false })]);
      const kind = attempts.some(({ error }) => error === null) ? 'afterRecorded' : 'repeated';
      after[kind].push(query);
      console.error(`${kind}: ${query}, ${attempts.length} attempts are recorded`);
    }
    done.add(id);
    const payloads = accepted.get(query) ?? new Map();
    accepted.set(query, payloads.set(id, JSON.parse(Buffer.concat(chunks))));
    response.end();
  });
  await new Promise((listening) => server.listen(0, host, listening));
  const { port } = server.address();
  return {
    url: (query) => `http://${host}:${port}/hook?${query}`,
    accepted,
    ...after,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
