/** The HTTP service as a Fastify instance. main.ts and the tests build it the same way; only main.ts listens. */
import type { AddressInfo } from 'node:net';
import cookie from '@fastify/cookie';
import multipart from '@fastify/multipart';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { LogController } from 'fastify';
import { type TObject, type TSchema, Type } from 'typebox';
import { HOUR_MS } from '../base/clock.js';
import { isSyntaxFault, jsonFault } from '../base/json-fault.js';
import { createFrameKeeper } from '../frames/keep.js';
import { createEnqueueDelivery } from '../jobs/enqueue-delivery.js';
import type { Logger } from '../process/logger.js';
import { checker } from '../schemas/validation-error.js';
import { publicBaseUrl } from '../secrets/links.js';
import { createLink, createPresenter } from './comparisons/links-presenter.js';
import { createBoundedServer } from './connections.js';
import type { Api, ApiDependencies, ApiOptions } from './dependencies.js';
import { createEventStreams } from './event-stream.js';
import { IMAGE_BODY } from './intake/image-body.js';
import { createAnswerOutcome } from './intake/respond.js';
import { createOutcomeWaiter } from './intake/wait.js';
import { assertStructure, BODY_STRUCTURE } from './json-structure.js';
import { useAuth } from './plugins/auth.js';
import { useBasePath, withoutBasePath } from './plugins/base-path.js';
import { BODY_MS, type BodyLimits, useBodyTime } from './plugins/body-time.js';
import { useClosing } from './plugins/closing.js';
import { type StartPage, useConsole } from './plugins/console.js';
import { useCors } from './plugins/cors.js';
import { useDocsPage } from './plugins/docs-page.js';
import { createKeylessLimit } from './plugins/keyless-limit.js';
import { useLanguage } from './plugins/language.js';
import { collectMethods } from './plugins/method-not-allowed.js';
import { useMetrics } from './plugins/metrics.js';
import {
  MAX_PARAM_LENGTH,
  MERGE_PATCH,
  onError,
  onUnreadableRequest,
  unsupportedType,
  useProblems,
} from './plugins/problems.js';
import { useQueuePage } from './plugins/queue-page.js';
import { useRateLimit } from './plugins/rate-limit.js';
import { traceIdOf, useTracing } from './plugins/tracing.js';
import { ROUTES } from './routes/index.js';
import { visitPages } from './visits/pages.js';

/** Time beside the wait for an outcome: reading the body, storing, answering. */
const SLACK_MS = 30_000;

/**
 * @param parts.bodyLimits other ones than those of the service, for tests
 * @param parts.describe gives the app its description, before the routes are added; default: the one of the build
 */
export async function buildApp(
  deps: ApiDependencies,
  options: ApiOptions,
  logger: Logger,
  { bodyLimits, describe = useDocsPage }: { bodyLimits?: BodyLimits; describe?: (app: Api) => Promise<void> } = {},
): Promise<Api> {
  const longestWaitMs = options.waitLimit * 1000 + SLACK_MS;
  const app: Api = Fastify({
    loggerInstance: logger,
    serverFactory: createBoundedServer,
    trustProxy: [...options.trustedProxies],
    // useTracing logs each answer once.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'trace_id' }),
    genReqId: traceIdOf,
    rewriteUrl: withoutBasePath(options),
    frameworkErrors: (error, request, reply) => {
      watchBody(request, reply);
      return onError(error, request, reply);
    },
    clientErrorHandler: onUnreadableRequest,
    bodyLimit: options.bodyLimit,
    // useBodyTime has the limits of bodies; Node's limit of headers (60 s) stays.
    requestTimeout: 0,
    connectionTimeout: longestWaitMs + SLACK_MS,
    handlerTimeout: BODY_MS + longestWaitMs,
    forceCloseConnections: 'idle',
    // Fastify's own refusal while closing is not problem+json; useClosing refuses instead.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
  }).withTypeProvider<TypeBoxTypeProvider>();

  // Query, path and headers are checked with the schemas of the OpenAPI file; routes check bodies, which have two
  // forms.
  app.setValidatorCompiler<TSchema>(({ schema, httpPart }) => {
    if (httpPart === 'body') return () => true;
    const check = checker(httpPart === 'headers' ? lowerCased(schema as TObject) : schema, { convert: true });
    return (value: unknown) => {
      try {
        return { value: check(value) };
      } catch (error) {
        return { error: error as Error };
      }
    };
  });
  // The compiler types answers and tests compare them with the OpenAPI file. A schema serialiser would silently drop
  // members that are missing in the schema.
  app.setSerializerCompiler(() => (body) => JSON.stringify(body));
  app.removeContentTypeParser('text/plain');
  // Parsing JSON and decoding its base64 blocks the event loop, so JSON has a smaller limit; multipart is streamed.
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<Buffer>(
    ['application/json', MERGE_PATCH],
    { parseAs: 'buffer', bodyLimit: Math.min(options.jsonLimit, options.bodyLimit) },
    (request, body, done) => {
      const { jsonStructure = BODY_STRUCTURE, mergePatch = false } = request.routeOptions.config;
      if (!mergePatch && request.headers['content-type']?.startsWith(MERGE_PATCH)) {
        return done(unsupportedType(request));
      }
      assertStructure(body, jsonStructure, 'The JSON body');
      const text = body.toString();
      parseJson(request, text, (error, value) => {
        if (error !== null && isSyntaxFault(text)) error.message = `The body is no JSON: ${jsonFault(text)}`;
        done(error, value);
      });
    },
  );

  // The route reads the stream, with its own limit.
  app.addContentTypeParser(IMAGE_BODY, (request, payload, done) => {
    done(request.routeOptions.config.imageBody === true ? null : unsupportedType(request), payload);
  });

  const waiting = createOutcomeWaiter(deps);
  const streams = createEventStreams(deps.events);

  const watchBody = useBodyTime(app, bodyLimits);
  let startPage: StartPage = null;
  useProblems(app, deps, () => startPage);
  useClosing(app, () => {
    waiting.release();
    streams.endAll();
  });
  useTracing(app);
  useBasePath(app, options);
  useLanguage(app);
  const metrics = useMetrics(app, { ...deps, streams }, options);
  await describe(app);
  const registerMethodNotAllowed = collectMethods(app);
  await useCors(app, options);
  await app.register(cookie);
  useAuth(app, { ...deps, limitKeyless: createKeylessLimit(deps, options) }, options);
  useRateLimit(app, deps, options);
  await app.register(multipart);

  const baseUrl = () => {
    const bound = app.server.address() as AddressInfo | null;
    return publicBaseUrl({ ...options, port: bound?.port ?? options.port });
  };
  const link = createLink({ baseUrl, linkKey: options.auth === 'on' ? deps.linkKey : null, clock: deps.clock });
  const present = createPresenter(link, {
    framesMs: options.frameRetentionHours * HOUR_MS,
    heatmapsMs: options.heatmapRetentionHours * HOUR_MS,
  });

  startPage = await useConsole(app, deps);
  const context = {
    ...deps,
    options,
    keeper: createFrameKeeper(deps.blobs, options),
    present,
    answerOutcome: createAnswerOutcome(waiting, present),
    baseUrl,
    enqueueDelivery: createEnqueueDelivery(deps),
    visitPages: visitPages(deps, link),
    streams,
    metrics,
    startPage,
  };
  for (const routes of ROUTES) routes(app, context);
  registerMethodNotAllowed();
  await useQueuePage(app, deps, options);
  return app;
}

/** Node gives header names in lower case; the schemas have them as they are usually written. */
const lowerCased = ({ properties }: TObject): TObject =>
  Type.Object(Object.fromEntries(Object.entries(properties).map(([name, s]) => [name.toLowerCase(), s])));
