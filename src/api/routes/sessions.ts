/** Routes of sessions: a browser signs in with an API key and from then on sends a cookie that scripts cannot read. */
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { VERSION } from '../../base/version.js';
import { dateTime, flag, literals, nullable, text } from '../../schemas/constructors.js';
import { vapidKeys } from '../../secrets/vapid-keys.js';
import { ROLE_NAMES, roleOf, SCOPES, withIncluded } from '../../stores/redis/scopes.js';
import type { Api } from '../dependencies.js';
import { LOCAL_KEY_ID, SESSION_COOKIE } from '../plugins/auth.js';
import { json, problems } from '../schemas/shared.js';
import { signToken, type TokenPurpose, verifyToken } from '../tokens.js';
import type { RouteContext } from './context.js';

const tags = ['sessions'];
const KEY = [{ bearer: [] }, { apiKey: [] }];

const SessionSchema = Type.Object({
  key: nullable(
    Type.Object({
      name: Type.String(),
      scopes: Type.Array(Type.String()),
      cameras: Type.Array(Type.String(), { description: 'Ids of cameras that it may use; `gate-*`, or `*` for all.' }),
    }),
    'null if AUTH is off: no sign-in is needed.',
  ),
  role: nullable(literals(ROLE_NAMES), 'Role with exactly the scopes of the key; null if there is none.'),
  scopes: Type.Array(literals(SCOPES), {
    description: 'Scopes of the key, and those that they include; all if AUTH is off.',
  }),
  may_link: flag('Whether POST /v1/session/token makes a token that signs in another device.'),
  admin: flag('Whether the key has the scope admin, or AUTH is off.'),
  expires_at: nullable(dateTime('End of the session; null if a key was sent, or AUTH is off.')),
  push_key: text('Public key of the service for subscriptions of browsers to web push.'),
  version: text('Version of the service.'),
  limits: Type.Object(
    { frame_bytes: Type.Integer(), body_bytes: Type.Integer(), footage_bytes: Type.Integer() },
    { description: 'Largest single frame, largest request and largest recording, in bytes.' },
  ),
});

const readSchema = {
  operationId: 'readSession',
  summary: 'Read whose session it is, and what it may do',
  tags,
  security: [...KEY, { session: [] }],
  response: { 200: json('The session.', SessionSchema), ...problems() },
};
const createSchema = {
  operationId: 'createSession',
  summary: 'Sign a browser in',
  description:
    'With an API key, or with a token of POST /v1/session/token, as `Authorization: Bearer`. The answer sets a cookie ' +
    '(HttpOnly, SameSite=Strict) that replaces the key for twelve hours, or until it is revoked.',
  tags,
  security: KEY,
  response: { 201: json('Signed in.', SessionSchema), ...problems() },
};
const deleteSchema = {
  operationId: 'deleteSession',
  summary: 'Sign out',
  tags,
  security: [...KEY, { session: [] }],
  response: { 204: { description: 'The cookie is removed, and no copy of it is valid.', type: 'null' }, ...problems() },
};
const tokenSchema = {
  operationId: 'createSignInToken',
  summary: 'Make a token that signs a browser in',
  description:
    'For a link to the console: `/#sign-in=TOKEN`. It is valid once: made with a key, for thirty minutes; made with a ' +
    'session, to sign in another device such as a telephone, for five minutes. The session of that device makes no ' +
    'further token (403).',
  tags,
  security: [...KEY, { session: [] }],
  response: { 201: json('The token.', Type.Object({ token: Type.String(), expires_at: dateTime() })), ...problems() },
};

export function sessionRoutes(app: Api, deps: RouteContext): void {
  const { options } = deps;
  const config = { scope: 'read' } as const;
  // Without a path the cookie is valid below the folder of this address as the browser sees it: /v1 of the service,
  // whatever path a proxy has put before it. The browser also says whether it came by TLS.
  const cookieOf = ({ headers }: FastifyRequest, expires: Date): CookieSerializeOptions => ({
    httpOnly: true,
    sameSite: 'strict',
    secure: (headers.origin ?? options.publicUrl ?? '').startsWith('https:'),
    expires,
  });
  const sign = (purpose: TokenPurpose, { apiKeyId = LOCAL_KEY_ID }: FastifyRequest) =>
    signToken(purpose, apiKeyId, { key: deps.linkKey, now: deps.clock() });
  /** @returns end of the session whose cookie it is, in epoch ms */
  const endOf = (cookie: string): number | undefined => {
    const options = { key: deps.linkKey, now: deps.clock() };
    return (verifyToken('session', cookie, options) ?? verifyToken('device-session', cookie, options))?.expiresAt;
  };

  const present = async (request: FastifyRequest, expiresAt: number | undefined) => {
    const { apiKeyId = LOCAL_KEY_ID, isAdmin, tokenPurpose } = request;
    const key = apiKeyId === LOCAL_KEY_ID ? undefined : await deps.apiKeys.get(apiKeyId);
    const scopes = key?.scopes ?? SCOPES;
    return {
      key: key === undefined ? null : { name: key.name, scopes: [...key.scopes], cameras: [...key.cameras] },
      role: roleOf(scopes) ?? null,
      scopes: withIncluded(scopes),
      may_link: key !== undefined && tokenPurpose !== 'device' && tokenPurpose !== 'device-session',
      admin: isAdmin,
      expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
      push_key: vapidKeys(deps.loginKey).publicKey,
      version: VERSION,
      limits: { frame_bytes: options.frameLimit, body_bytes: options.bodyLimit, footage_bytes: options.footageLimit },
    };
  };

  app.get('/v1/session', { schema: readSchema, config }, async (request, reply) => {
    const given = request.headers.authorization === undefined ? request.cookies[SESSION_COOKIE] : undefined;
    reply.header('Cache-Control', 'no-store');
    return present(request, given === undefined ? undefined : endOf(given));
  });

  const keyOnly = { ...config, noSessions: true };
  app.post(
    '/v1/session',
    { schema: createSchema, config: { ...keyOnly, signInTokens: true } },
    async (request, reply) => {
      reply.code(201).header('Cache-Control', 'no-store');
      if (request.apiKeyId === LOCAL_KEY_ID) return present(request, undefined);
      const { token, expiresAt } = sign(request.tokenPurpose === 'device' ? 'device-session' : 'session', request);
      reply.setCookie(SESSION_COOKIE, token, cookieOf(request, new Date(expiresAt)));
      return present(request, expiresAt);
    },
  );

  app.delete('/v1/session', { schema: deleteSchema, config }, async (request, reply) => {
    reply.setCookie(SESSION_COOKIE, '', cookieOf(request, new Date(0)));
    const given = request.cookies[SESSION_COOKIE] ?? '';
    const expiresAt = endOf(given);
    if (expiresAt !== undefined) await deps.apiKeys.spend(given, expiresAt - deps.clock());
    return reply.code(204).send();
  });

  const tokenConfig = { ...config, noDeviceSessions: true };
  app.post('/v1/session/token', { schema: tokenSchema, config: tokenConfig }, async (request, reply) => {
    const { token, expiresAt } = sign(request.tokenPurpose === 'session' ? 'device' : 'sign-in', request);
    reply.code(201).header('Cache-Control', 'no-store');
    return { token, expires_at: new Date(expiresAt).toISOString() };
  });
}
