/** Error handler: every failure is answered with RFC 9457 problem+json and a code of the catalogue. */
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import {
  asScenedeltaError,
  ERROR_TYPE_BASE,
  type ErrorCode,
  errorEntry,
  invalidRequest,
  notFound,
  type Problem,
  ScenedeltaError,
} from '../../base/errors.js';
import { shortageText } from '../../stores/blobs/disk.js';
import { isUnavailable } from '../../stores/redis/redis.js';
import type { Api, ApiDependencies } from '../dependencies.js';
import type { StartPage } from './console.js';
import { shownPath } from './shown-path.js';
import { markAnswer } from './tracing.js';

/** Longest parameter of a path; the ids of cameras and models are shorter. */
export const MAX_PARAM_LENGTH = 200;
export const PROBLEM_TYPE = 'application/problem+json';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** whether the body may be an image (intake/image-body.ts) */
    imageBody?: boolean;
    /** whether the body may be a JSON merge patch */
    mergePatch?: boolean;
  }
}

export const MERGE_PATCH = 'application/merge-patch+json';

/** Answers to removed paths. */
const REMOVED: Readonly<Record<string, string>> = {
  '/v1/discovery': '`scenedelta onvif` finds the cameras of a network and asks them for their addresses',
};

function expectedTypes({ routeOptions: { config } }: FastifyRequest): string {
  if (config.imageBody === true) return 'expected multipart/form-data, application/json or image/...';
  if (config.mergePatch === true) return `expected ${MERGE_PATCH} or application/json`;
  return 'expected multipart/form-data or application/json';
}

/** @returns ScenedeltaError 'unsupported-media-type', naming the type that came and the types of the route */
export const unsupportedType = (request: FastifyRequest): ScenedeltaError =>
  new ScenedeltaError(
    'unsupported-media-type',
    `Content-Type is ${request.headers['content-type']}, ${expectedTypes(request)}`,
  );

/** Errors of Fastify, its multipart plugin and Node, mapped to the catalogue. */
type Detail = string | ((err: Error, request: FastifyRequest) => string);
const FOREIGN: Readonly<Record<string, readonly [ErrorCode, Detail]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported-media-type', (_err, request) => unsupportedType(request).message],
  FST_ERR_CTP_EMPTY_TYPE: [
    'unsupported-media-type',
    (_err, request) => `The body has no Content-Type, ${expectedTypes(request)}`,
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: [
    'payload-too-large',
    (_err, request) =>
      `The JSON body has ${request.headers['content-length'] ?? 'too many'} bytes, more than ` +
      'JSON_LIMIT allows; send large frames as files of a form (multipart/form-data), which may be as ' +
      'large as BODY_LIMIT',
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['malformed-body', 'The body is empty, expected JSON'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['malformed-body', (err) => err.message],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'malformed-body',
    'The body does not have the length that Content-Length states',
  ],
  FST_REQ_FILE_TOO_LARGE: ['payload-too-large', 'A file of the form is larger than BODY_LIMIT'],
  FST_PARTS_LIMIT: ['payload-too-large', 'The form has more than 20 parts, expected the frames and at most 16 fields'],
  FST_FILES_LIMIT: [
    'payload-too-large',
    'The form has more than four files, expected one each in before and after, or one in frame',
  ],
  FST_FIELDS_LIMIT: ['payload-too-large', 'The form has more than 16 fields beside its files, expected at most 16'],
  FST_PROTO_VIOLATION: ['invalid-request', 'A field of the form has a name that is not allowed'],
  FST_INVALID_JSON_FIELD_ERROR: ['malformed-body', 'A field of the form says it is application/json and is not'],
  FST_MP_PREMATURE_CLOSE: ['malformed-body', 'The form ended before its last boundary'],
  FST_ERR_BAD_URL: [
    'invalid-request',
    (_err, request) => `The path ${shownPath(request)} cannot be decoded, expected % and two hex digits`,
  ],
  FST_ERR_MAX_PARAM_LENGTH: [
    'not-found',
    (_err, request) =>
      `There is nothing at ${shownPath(request)}: a part of a path has at most ${MAX_PARAM_LENGTH} characters`,
  ],
  FST_ERR_HANDLER_TIMEOUT: ['overloaded', 'The request could not be answered within the time that is set for it'],
};

/** Seconds until another attempt makes sense, for transient failures. */
const RETRY_AFTER_SECONDS: Partial<Record<ErrorCode, number>> = {
  'idempotency-in-flight': 1,
  'not-finished': 2,
  'queue-unavailable': 5,
  'storage-unavailable': 30,
  'queue-share-used': 10,
  overloaded: 10,
  closing: 1,
};

function toScenedeltaError(thrown: unknown, request: FastifyRequest): ScenedeltaError {
  if (thrown instanceof ScenedeltaError) return thrown;
  const err = thrown as FastifyError;
  const [code, detail] = FOREIGN[err.code] ?? [];
  if (code !== undefined && detail !== undefined) {
    const text = typeof detail === 'string' ? detail : detail(err, request);
    return new ScenedeltaError(code, text, { cause: err });
  }
  // The plugin of the static files of /docs refuses paths that leave its folder.
  if (err.statusCode === 403 || err.statusCode === 404) {
    return new ScenedeltaError('not-found', `There is nothing at ${shownPath(request)}`, { cause: err });
  }
  // Errors of JSON.parse and busboy have no code, only a status or a message.
  if (err.statusCode === 400 || isMultipartError(err)) {
    return new ScenedeltaError('malformed-body', `The body cannot be parsed: ${err.message}`, { cause: err });
  }
  return asScenedeltaError(thrown);
}

const isMultipartError = (err: Error): boolean =>
  err instanceof Error && /multipart|boundary|part terminated|malformed part/i.test(err.message);

/**
 * Answers with a problem, of this process or as a worker stored it.
 * @param extra members beside the ones of RFC 9457
 */
export function sendProblem(reply: FastifyReply, problem: Problem, extra: object = {}): FastifyReply {
  const code = problem.type.slice(ERROR_TYPE_BASE.length) as ErrorCode;
  const retryAfter = RETRY_AFTER_SECONDS[code];
  if (retryAfter !== undefined && !reply.hasHeader('retry-after')) reply.header('Retry-After', retryAfter);
  if (code === 'unauthorized') reply.header('WWW-Authenticate', 'Bearer realm="scenedelta"');
  // The route may have set headers for the answer that the problem replaces.
  reply.removeHeader('etag').header('Cache-Control', 'no-store');
  reply.code(problem.status).type(PROBLEM_TYPE);
  return reply.send(JSON.stringify({ ...problem, ...extra }));
}

export function onError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = toScenedeltaError(thrown, request);
  const { status } = errorEntry(error.code);
  // The hook of useTracing does not run for requests that the router refuses.
  markAnswer(request, reply);
  // A 503 is an outage, which the connection or the store logs once.
  if (status >= 500 && status !== 503) request.log.error({ err: error.cause ?? error }, error.message);
  else request.log.info({ problem: error.code, detail: error.message }, 'request refused');
  return sendProblem(reply, error.toProblem());
}

/** Answers a request that Node could not parse as HTTP; there is no request object, only a socket. */
export function onUnreadableRequest(err: ConnectionError, socket: Socket): void {
  if (err.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, title]: [number, string] =
    err.code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'Request Header Fields Too Large']
      : err.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'Request Timeout']
        : [400, 'Bad Request'];
  endWithProblem(socket, { status, title, detail: `Not readable as HTTP: ${err.code}` });
}

/** Answers and closes the connection, whatever else the client sends. */
export function endWithProblem(socket: Socket, problem: { status: number; title: string; detail: string }): void {
  const { status, title } = problem;
  const body = JSON.stringify({ type: 'about:blank', ...problem });
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nContent-Type: ${PROBLEM_TYPE}\r\nContent-Length: ` +
      `${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  socket.destroySoon();
}

/** Without room on its disk, Redis refuses writes or ends: then the disk is named, and not Redis. */
async function nameDisk(thrown: unknown, { diskShortage }: Pick<ApiDependencies, 'diskShortage'>): Promise<unknown> {
  const shortage = isUnavailable(thrown) ? await diskShortage() : null;
  if (shortage === null) return thrown;
  return new ScenedeltaError('storage-unavailable', shortageText(shortage), { cause: thrown });
}

/** @param pageOf the console, which answers browsers at an unknown address */
export function useProblems(app: Api, deps: Pick<ApiDependencies, 'diskShortage'>, pageOf: () => StartPage): void {
  // RFC 9112: proxies and servers may disagree about which of several Host headers counts.
  app.addHook('onRequest', async ({ raw }) => {
    const hosts = raw.headersDistinct?.host?.length ?? 0;
    if (hosts <= 1) return;
    throw invalidRequest(`The request has ${hosts} Host headers, expected one`);
  });
  // Frames are compressed by themselves, and a small compressed body could be a large one.
  app.addHook('onRequest', async ({ headers }, reply) => {
    const coding = headers['content-encoding']?.trim() ?? '';
    if (/^(?:identity)?$/i.test(coding)) return;
    reply.header('Accept-Encoding', 'identity');
    const came = coding.slice(0, 40);
    const detail = `Content-Encoding is ${came}, expected none: bodies are taken without compression`;
    throw new ScenedeltaError('unsupported-media-type', detail);
  });
  app.setErrorHandler(async (thrown, request, reply) => onError(await nameDisk(thrown, deps), request, reply));
  app.setNotFoundHandler((request, reply) => {
    const path = shownPath(request);
    const removed = Object.entries(REMOVED).find(([begin]) => path.startsWith(begin))?.[1];
    const detail = `There is nothing at ${path}${removed === undefined ? '' : `: ${removed}`}`;
    const isPage = ['GET', 'HEAD'].includes(request.method) && request.headers.accept?.includes('text/html') === true;
    const page = isPage ? pageOf() : null;
    if (page !== null) return page(reply.code(404));
    return sendProblem(reply, notFound(detail).toProblem());
  });
}
