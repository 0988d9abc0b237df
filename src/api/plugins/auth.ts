/**
 * Authentication and authorisation. Every route under /v1 states its scope in `config`; routes without one are open. A
 * signed link (links.ts) or a token (tokens.ts) replaces the key on the routes that allow it, and the cookie of a
 * session does on all but the routes that sign in.
 */
import type { FastifyRequest } from 'fastify';
import { ScenedeltaError } from '../../base/errors.js';
import { verifyLink } from '../../secrets/links.js';
import type { ApiKey } from '../../stores/redis/api-keys.js';
import { type Scope, withIncluded } from '../../stores/redis/scopes.js';
import type { Visibility } from '../../stores/redis/visibility.js';
import type { Api, ApiDependencies, ApiOptions } from '../dependencies.js';
import { type TokenPurpose, verifyToken } from '../tokens.js';
import type { LimitKeyless } from './keyless-limit.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** id of the request's key; LOCAL_KEY_ID if AUTH is off; undefined for signed links and open routes */
    apiKeyId: string | undefined;
    /** owner of the comparisons that the request makes; undefined as apiKeyId is */
    owner: string | undefined;
    /** stored data that the request may see; set on every route with a scope */
    visibility: Visibility;
    /** whether the key has the scope admin, or AUTH is off */
    isAdmin: boolean;
    /**
     * For answers that take long: whether the request would still be let in. False once its key has been revoked or its
     * session has ended; the signature of a link and an event token count only at the beginning.
     */
    isStillAllowed: () => Promise<boolean>;
    /** purpose of the token that let the request in; undefined: a key, a link, or nothing */
    tokenPurpose: TokenPurpose | undefined;
  }
  interface FastifyContextConfig {
    /** scope that a key needs; undefined: the route is open */
    scope?: Scope;
    /** whether a signed link opens the route too */
    signedLinks?: boolean;
    /** whether an event token opens the route too */
    eventTokens?: boolean;
    /** whether the cookie of a session does not open the route, so that no session prolongs itself */
    noSessions?: boolean;
    /** whether the cookie of a session opens the route only if a key or a link of `npm run up` began the session */
    noDeviceSessions?: boolean;
    /** whether a sign-in token opens the route too */
    signInTokens?: boolean;
  }
}

/** Key id of requests while AUTH is off. */
export const LOCAL_KEY_ID = 'local';
export const SESSION_COOKIE = 'scenedelta_session';
/**
 * Requests that alter something need it beside the cookie. A page of another origin cannot send it: the browser would
 * ask first, and CORS allows no credentials.
 */
const CSRF_HEADER = 'x-csrf-protection';

export function useAuth(
  app: Api,
  deps: KeyDependencies & { limitKeyless: LimitKeyless },
  options: Pick<ApiOptions, 'auth'>,
): void {
  app.decorateRequest('apiKeyId', undefined);
  app.decorateRequest('owner', undefined);
  app.decorateRequest('visibility');
  app.decorateRequest('isAdmin', false);
  app.decorateRequest('isStillAllowed', async () => true);
  app.decorateRequest('tokenPurpose', undefined);
  app.addHook('onRoute', ({ url, config, schema }) => {
    if (url.startsWith('/v1') && config?.scope === undefined && schema?.hide !== true) {
      throw new Error(`route ${url} states no scope, expected config.scope`);
    }
  });
  app.addHook('onRequest', async (request, reply) => {
    const { scope, signedLinks = false } = request.routeOptions.config;
    if (scope === undefined) return deps.limitKeyless(request, reply);
    if (options.auth === 'off') {
      request.apiKeyId = LOCAL_KEY_ID;
      request.owner = LOCAL_KEY_ID;
      request.visibility = 'everything';
      request.isAdmin = true;
      return;
    }
    const found = await letIn(request, deps, signedLinks).catch(async (refusal) => {
      await deps.limitKeyless(request, reply);
      throw refusal;
    });
    if (found === 'link') {
      // The signature covers the path, so the request can see nothing else.
      request.visibility = 'everything';
      return;
    }
    const { key, readAgain } = found;
    request.tokenPurpose = found.purpose;
    if (!withIncluded(key.scopes).includes(scope)) {
      throw new ScenedeltaError(
        'forbidden',
        `The key ${JSON.stringify(key.name)} has the scopes ${key.scopes.join(', ') || '(none)'}, expected ${scope}`,
      );
    }
    request.apiKeyId = key.id;
    request.owner = key.owner;
    request.isAdmin = key.scopes.includes('admin');
    request.visibility = request.isAdmin ? 'everything' : { owner: key.owner, cameras: key.cameras };
    request.isStillAllowed = async () => (await readAgain()) !== undefined;
  });
}

function secretOf({ headers }: FastifyRequest): string | undefined {
  const bearer = /^Bearer +(\S.*)$/i.exec(headers.authorization ?? '')?.[1];
  const header = headers['x-api-key'];
  return bearer ?? (typeof header === 'string' && header !== '' ? header : undefined);
}

type KeyDependencies = Pick<ApiDependencies, 'apiKeys' | 'linkKey' | 'clock'>;

interface FoundKey {
  readonly key: ApiKey;
  /** @returns the key; undefined if it has been revoked or the session has ended */
  readonly readAgain: () => Promise<ApiKey | undefined>;
  /** of the token that stood for the key */
  readonly purpose?: TokenPurpose | undefined;
}
/** A session of this browser, or one that a link from another device began. */
const SESSIONS = ['session', 'device-session'] as const;
const SIGN_IN_TOKENS = ['sign-in', 'device'] as const;

/** @throws ScenedeltaError 'unauthorized' or 'forbidden' */
const letIn = async (request: FastifyRequest, deps: KeyDependencies, signedLinks: boolean) =>
  signedLinks && hasValidLink(request, deps) ? 'link' : keyOf(request, deps);

/** @throws ScenedeltaError 'unauthorized'; 'forbidden' if a session alters something without CSRF_HEADER */
async function keyOf(request: FastifyRequest, deps: KeyDependencies): Promise<FoundKey> {
  const { eventTokens = false, signInTokens = false, noSessions, noDeviceSessions } = request.routeOptions.config;
  const secret = secretOf(request);
  if (secret !== undefined) {
    const key = await deps.apiKeys.authenticate(secret);
    if (key !== undefined) return { key, readAgain: () => deps.apiKeys.get(key.id) };
    const found = signInTokens ? await keyOfTokens(SIGN_IN_TOKENS, secret, deps) : undefined;
    if (found !== undefined) return { ...found, readAgain: () => deps.apiKeys.get(found.key.id) };
    throw await unauthorized(secret, deps.apiKeys);
  }
  const { access_token } = request.query as { access_token?: unknown };
  if (eventTokens && access_token !== undefined) {
    const key = await keyOfEventToken(access_token, deps);
    return { key, readAgain: () => deps.apiKeys.get(key.id) };
  }
  const session = noSessions ? undefined : request.cookies[SESSION_COOKIE];
  const readAgain = async () => (session === undefined ? undefined : keyOfTokens(SESSIONS, session, deps));
  const found = await readAgain();
  if (found === undefined) throw await unauthorized(undefined, deps.apiKeys);
  if (!['GET', 'HEAD'].includes(request.method) && request.headers[CSRF_HEADER] === undefined) {
    throw new ScenedeltaError(
      'forbidden',
      `${request.method} with the cookie of a session has no header X-CSRF-Protection, expected one with any value`,
    );
  }
  if (noDeviceSessions && found.purpose === 'device-session') {
    throw new ScenedeltaError(
      'forbidden',
      'A link from another device began this session, expected a key or its session',
    );
  }
  return { ...found, readAgain: async () => (await readAgain())?.key };
}

/** @returns the key of a token of one of the purposes, and that one */
async function keyOfTokens(purposes: readonly TokenPurpose[], token: string, deps: KeyDependencies) {
  for (const purpose of purposes) {
    const key = await keyOfToken(purpose, token, deps);
    if (key !== undefined) return { key, purpose };
  }
  return undefined;
}

async function keyOfToken(purpose: TokenPurpose, token: string, deps: KeyDependencies): Promise<ApiKey | undefined> {
  const now = deps.clock();
  const verified = verifyToken(purpose, token, { key: deps.linkKey, now });
  if (verified === undefined) return undefined;
  // A sign-in token is spent by its first use, the one of a session by signing out.
  if (isIn(SIGN_IN_TOKENS, purpose) && !(await deps.apiKeys.spend(token, verified.expiresAt - now))) return undefined;
  if (isIn(SESSIONS, purpose) && (await deps.apiKeys.isSpent(token))) return undefined;
  return deps.apiKeys.get(verified.keyId);
}

const isIn = (purposes: readonly TokenPurpose[], purpose: TokenPurpose): boolean => purposes.includes(purpose);

/** @throws ScenedeltaError 'unauthorized'; the text does not repeat the token, which is a secret */
async function keyOfEventToken(token: unknown, deps: KeyDependencies): Promise<ApiKey> {
  const key = typeof token === 'string' ? await keyOfToken('events', token, deps) : undefined;
  if (key !== undefined) return key;
  throw new ScenedeltaError(
    'unauthorized',
    'access_token is not a valid event token: it has expired, or its key has been revoked; ' +
      'expected one that POST /v1/events/token has returned within the last minutes',
  );
}

/** @throws ScenedeltaError 'unauthorized' if there is a signature and it is invalid or expired */
function hasValidLink(request: FastifyRequest, deps: Pick<ApiDependencies, 'linkKey' | 'clock'>): boolean {
  const { sig, exp } = request.query as { sig?: unknown; exp?: unknown };
  if (typeof sig !== 'string' || typeof exp !== 'string') return false;
  const path = request.url.split('?')[0] as string;
  if (verifyLink(path, { sig, exp }, { key: deps.linkKey, now: deps.clock() })) return true;
  throw new ScenedeltaError(
    'unauthorized',
    `The signature of this link does not fit ${path} or expired at ${exp}; read the comparison again for a new link`,
  );
}

async function unauthorized(secret: string | undefined, apiKeys: ApiDependencies['apiKeys']): Promise<ScenedeltaError> {
  if (await apiKeys.isEmpty()) {
    return new ScenedeltaError(
      'unauthorized',
      'There are no API keys yet: create one with `scenedelta keys create`, and send it as Authorization: Bearer <key>',
    );
  }
  return new ScenedeltaError(
    'unauthorized',
    secret === undefined
      ? 'The request has no API key, expected Authorization: Bearer <key> or X-API-Key: <key>'
      : 'The API key is unknown or has been revoked',
  );
}
