/**
 * Time limit of request bodies. Node's own limit is the same for every request, so it is off: a body has two minutes,
 * but a route with `config.upload` takes a large one over a slow line, as long as it keeps coming.
 */
import { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { systemClock } from '../../base/clock.js';
import type { Api } from '../dependencies.js';
import { endWithProblem } from './problems.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** whether the body may take as long as UPLOAD_MS, if it comes fast enough */
    upload?: boolean;
  }
}

export const BODY_MS = 120_000;
/** A day: recordings of 10 GiB arrive in it at 1 Mbit/s. */
export const UPLOAD_MS = 24 * 3_600_000;

export interface BodyLimits {
  readonly bodyMs: number;
  readonly uploadMs: number;
  /** An upload that sends fewer bytes within this time is cut. */
  readonly windowMs: number;
  readonly windowBytes: number;
  /** A body that comes on after its answer is cut after so long. */
  readonly answeredMs: number;
  /** time between two checks */
  readonly checkMs: number;
}

const LIMITS: BodyLimits = {
  answeredMs: 5_000,
  bodyMs: BODY_MS,
  uploadMs: UPLOAD_MS,
  // 8 KiB/s: slower than any usable line, and too much for holding many connections open.
  ...{ windowMs: 60_000, windowBytes: 60 * 8 * 1024, checkMs: 5_000 },
};

/** @returns a function that watches the body of a request that the router refuses: no hook is called for it */
export function useBodyTime(app: Api, limits: BodyLimits = LIMITS) {
  const watch = (request: FastifyRequest, reply: FastifyReply) => watchBody(request, reply, limits);
  app.addHook('onRequest', async (request, reply) => watch(request, reply));
  return watch;
}

function watchBody({ raw, routeOptions }: FastifyRequest, reply: FastifyReply, limits: BodyLimits): void {
  const { headers, socket } = raw;
  const isUpload = routeOptions.config?.upload === true;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  // Injected requests have no connection, so no client can hold one.
  if (!hasBody || raw.complete || !(socket instanceof Socket)) return;
  const startedAt = systemClock();
  let window = { at: startedAt, bytes: socket.bytesRead };
  let answeredAt: number | undefined;
  const check = (): string | null => {
    const now = systemClock();
    if (reply.raw.writableEnded) answeredAt ??= now;
    if (answeredAt !== undefined && now - answeredAt >= limits.answeredMs) return 'The request has been answered';
    const longest = isUpload ? limits.uploadMs : limits.bodyMs;
    if (now - startedAt > longest) return `The body has not arrived within ${longest / 1000} s`;
    if (!isUpload || now - window.at < limits.windowMs) return null;
    const came = socket.bytesRead - window.bytes;
    window = { at: now, bytes: socket.bytesRead };
    if (came >= limits.windowBytes) return null;
    return `The upload sent ${came} bytes in ${limits.windowMs / 1000} s, expected at least ${limits.windowBytes}`;
  };
  const timer = setInterval(() => {
    const fault = raw.complete ? null : check();
    if (fault !== null && reply.raw.headersSent) socket.destroy();
    else if (fault !== null) endWithProblem(socket, { status: 408, title: 'Request Timeout', detail: fault });
    if (fault !== null || raw.complete) clearInterval(timer);
  }, limits.checkMs);
  timer.unref();
  raw.once('close', () => clearInterval(timer));
}
