/**
 * The HTTP server under the app. Requests of one connection are served one after the other, as their answers have to be
 * sent in this order anyway, with a turn for other connections in between. So a client that sends many requests at once
 * (pipelining) delays itself only.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyServerFactory, FastifyServerOptions } from 'fastify';
import ipaddr from 'ipaddr.js';
import { PROBLEM_TYPE } from './plugins/problems.js';

/** Requests of one connection that may wait for the answers to earlier ones. Browsers send none, apt-get sends 10. */
const MOST_WAITING = 32;
/** Connections of one address that have the same rights; answers on later ones need a key. Browsers open 6 of them. */
const MOST_CONNECTIONS = 100;
/** Time for the first request on a connection above MOST_CONNECTIONS. */
const FIRST_REQUEST_MS = 5_000;
/** Bytes that are parsed before the requests in them are counted: without a request in progress, and of its body. */
const PIECE = 1024;
const BODY_PIECE = 8 * 1024;
/**
 * Delay of a refusal that ends a connection, so that a client which connects again at once does not gain by it. It
 * varies, so that many clients do not connect again at the same time.
 */
const REFUSAL_DELAY_MS = 1_000;
export const refusalDelay = (): Promise<void> =>
  pause(REFUSAL_DELAY_MS * (0.5 + Math.random()), undefined, { ref: false });
/** Bits of an IPv6 address that are one client: a host chooses the rest of its address freely. */
const IPV6_CLIENT_BITS = 64;

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Connections above MOST_CONNECTIONS. */
const surplus = new WeakSet<Socket>();
export const isSurplus = (socket: Socket): boolean => surplus.has(socket);

/** @returns the address, or the network of an IPv6 address, as one client */
export function clientOf(address: string): string {
  const parsed = ipaddr.parse(address);
  if (parsed.kind() === 'ipv4') return address;
  return parsed
    .toByteArray()
    .slice(0, IPV6_CLIENT_BITS / 8)
    .join('.');
}

type Timeouts = Required<Pick<FastifyServerOptions, 'keepAliveTimeout' | 'requestTimeout' | 'connectionTimeout'>>;

/** Fastify sets its timeouts only on a server that it makes itself, so this one sets them as it does. */
export const createBoundedServer: FastifyServerFactory = (handle, options): Server => {
  const { keepAliveTimeout, requestTimeout, connectionTimeout } = options as Timeouts;
  const server = createServer(inTurn(handle));
  Object.assign(server, { keepAliveTimeout, requestTimeout });
  server.setTimeout(connectionTimeout);
  const counts = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    parseInPieces(socket);
    if (socket.remoteAddress === undefined) return;
    const client = clientOf(socket.remoteAddress);
    const count = (counts.get(client) ?? 0) + 1;
    counts.set(client, count);
    socket.once('close', () => {
      const rest = (counts.get(client) ?? 1) - 1;
      if (rest === 0) counts.delete(client);
      else counts.set(client, rest);
    });
    if (count <= MOST_CONNECTIONS) return;
    surplus.add(socket);
    setTimeout(() => void (turns.has(socket) || socket.destroy()), FIRST_REQUEST_MS).unref();
  });
  return server;
};

/** The requests of a connection that wait for answers, the one in progress first, and the last that came. */
interface Turn {
  readonly serve: (() => void)[];
  last: IncomingMessage;
}
/** Absent before the first request. */
const turns = new WeakMap<Socket, Turn>();
/** The connection ends with a refusal, and whatever comes after that is not read. */
const isOver = (turn: Turn | undefined): boolean => turn !== undefined && turn.serve.length > MOST_WAITING + 1;

function inTurn(handle: Handle): Handle {
  return (request, response) => {
    const { socket } = request;
    const turn = turns.get(socket) ?? { serve: [], last: request };
    turns.set(socket, turn);
    turn.last = request;
    if (isOver(turn)) return;
    const serve = turn.serve.length > MOST_WAITING ? refuse : handle;
    response.once('close', () => {
      turn.serve.shift();
      if (turn.serve.length > 0) later(() => socket.writable && turn.serve[0]?.());
    });
    turn.serve.push(() => void serve(request, response));
    if (turn.serve.length === 1) turn.serve[0]?.();
  };
}

const delayed: (() => void)[] = [];
/** Runs one delayed request in each round of the event loop, so that requests which did not wait come first. */
function later(serve: () => void): void {
  if (delayed.push(serve) === 1) setImmediate(serveDelayed);
}
function serveDelayed(): void {
  delayed[0]?.();
  delayed.shift();
  if (delayed.length > 0) setImmediate(serveDelayed);
}

/** Node would parse all that it has read at once, up to 64 KiB with 2,000 requests. */
function parseInPieces(socket: Socket): void {
  const [parse] = socket.listeners('data') as [(this: Socket, piece: Buffer) => void];
  socket.removeListener('data', parse);
  socket.on('data', (data) => {
    for (let at = 0; at < data.length; ) {
      const turn = turns.get(socket);
      if (isOver(turn) || !socket.writable) return;
      const length = turn?.last.complete === false ? BODY_PIECE : PIECE;
      parse.call(socket, data.subarray(at, at + length));
      at += length;
    }
  });
}

async function refuse(_request: IncomingMessage, response: ServerResponse): Promise<void> {
  await refusalDelay();
  const detail = `More than ${MOST_WAITING} requests wait for answers on this connection, expected at most that many`;
  response.writeHead(429, { 'Content-Type': PROBLEM_TYPE, Connection: 'close' });
  response.end(JSON.stringify({ type: 'about:blank', status: 429, title: 'Too Many Requests', detail }));
}
