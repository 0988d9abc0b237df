/**
 * HTTP authentication of a client: Basic (RFC 7617) and Digest (RFC 7616: MD5, SHA-256 and SHA-512-256, also as
 * `-sess`, qop=auth, and without qop as in RFC 2069, which many cameras use). A nonce is used again with a higher
 * count, so that most requests need one exchange. No package was taken: those found lack SHA-256, the reuse of a nonce,
 * or Node 20.
 */
import { createHash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Login } from '../secrets/login.js';

export interface Challenge {
  /** in lower case */
  readonly scheme: string;
  /** names in lower case */
  readonly params: ReadonlyMap<string, string>;
}

/** Cameras whose last challenge is kept. */
const MOST_SESSIONS = 1_000;
/** Requests of one exchange: with a nonce kept from before, with a new one, and with another if that was stale. */
const MOST_REQUESTS = 3;
/** A refused login is not sent again for this long: many cameras lock an account after a few wrong passwords. */
const REFUSED_MS = 5 * 60_000;
const REFUSED = 'refused the user name or the password (401); it is asked again after five minutes';
/** The store keeps it for longer, and is asked again. */
const RECALLED_MS = 10_000;

/** In the order of preference. */
const HASHES: readonly (readonly [algorithm: string, hash: string])[] = [
  ['SHA-512-256', 'sha512-256'],
  ['SHA-256', 'sha256'],
  ['MD5', 'md5'],
];

/** Ends the name of an algorithm that hashes the login once per nonce, with the first cnonce. */
const SESSION = /-SESS$/i;
const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
const PART = new RegExp(`(${TOKEN})(?:\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|(${TOKEN})))?`, 'g');

/** @param headers values of WWW-Authenticate, each with one challenge or several */
export function parseChallenges(headers: readonly string[]): Challenge[] {
  const challenges: { scheme: string; params: Map<string, string> }[] = [];
  for (const header of headers) {
    for (const [part, name = '', quoted, token] of header.matchAll(PART)) {
      const value = quoted?.replace(/\\(.)/g, '$1') ?? token;
      if (value !== undefined) challenges.at(-1)?.params.set(name.toLowerCase(), value);
      else if (!part.includes('=')) challenges.push({ scheme: name.toLowerCase(), params: new Map() });
    }
  }
  return challenges;
}

const hashOf = ({ params }: Challenge): string | undefined => {
  const algorithm = (params.get('algorithm') ?? 'MD5').toUpperCase().replace(SESSION, '');
  return HASHES.find(([name]) => name === algorithm)?.[1];
};
/** @returns undefined: none is stated, or an empty one */
const qopsOf = ({ params }: Challenge): string[] | undefined =>
  params
    .get('qop')
    ?.match(/[^,\s]+/g)
    ?.map((qop) => qop.toLowerCase());

/** @returns the strongest challenge that can be answered; undefined if none can */
function strongest(challenges: readonly Challenge[]): Challenge | undefined {
  const digests = challenges.filter(
    (one) => one.scheme === 'digest' && one.params.has('nonce') && (qopsOf(one)?.includes('auth') ?? true),
  );
  for (const [, hash] of HASHES) {
    const found = digests.find((one) => hashOf(one) === hash);
    if (found !== undefined) return found;
  }
  return challenges.find(({ scheme }) => scheme === 'basic');
}

interface DigestRequest extends Pick<LoginTarget, 'method' | 'uri'> {
  /** requests with this nonce, this one included */
  readonly count: number;
  readonly cnonce: string;
}

/** @returns the value of the header Authorization */
export function authorizationOf(challenge: Challenge, login: Login, request: DigestRequest): string {
  const { username, password } = login;
  if (challenge.scheme === 'basic') return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const { params } = challenge;
  const hash = (text: string) =>
    createHash(hashOf(challenge) ?? 'md5')
      .update(text)
      .digest('hex');
  const [realm = '', nonce = ''] = [params.get('realm'), params.get('nonce')];
  const { method, uri, cnonce } = request;
  const nc = request.count.toString(16).padStart(8, '0');
  const withQop = qopsOf(challenge) !== undefined;
  const isSession = SESSION.test(params.get('algorithm') ?? '');
  const secret = hash(`${username}:${realm}:${password}`);
  const response = hash(
    [
      isSession ? hash(`${secret}:${nonce}:${cnonce}`) : secret,
      nonce,
      ...(withQop ? [nc, cnonce, 'auth'] : []),
      hash(`${method}:${uri}`),
    ].join(':'),
  );
  const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
  const isAscii = /^[\x20-\x7e]*$/.test(username);
  const [opaque, algorithm] = [params.get('opaque'), params.get('algorithm')];
  const fields = [
    isAscii ? `username=${quote(username)}` : `username*=UTF-8''${encodeURIComponent(username)}`,
    `realm=${quote(realm)}`,
    `nonce=${quote(nonce)}`,
    `uri=${quote(uri)}`,
    `response="${response}"`,
    ...(algorithm === undefined ? [] : [`algorithm=${algorithm}`]),
    ...(opaque === undefined ? [] : [`opaque=${quote(opaque)}`]),
    ...(withQop ? ['qop=auth', `nc=${nc}`] : []),
    ...(withQop || isSession ? [`cnonce="${cnonce}"`] : []),
  ];
  return `Digest ${fields.join(', ')}`;
}

interface Session {
  readonly challenge: Challenge;
  readonly cnonce: string;
  /** requests that used the nonce */
  count: number;
}

/** The answer to a 401, or the reason why there is none, in words for the caller. */
export type LoginStep = { readonly authorization: string } | { readonly refused: string };

/** A request that needs a login. */
export interface LoginTarget {
  readonly origin: string;
  /** of protocols whose nonces hold for one connection: no other one gets an answer to them */
  readonly connection?: string;
  readonly method: string;
  /** path and query; of RTSP the whole address */
  readonly uri: string;
}

export type HttpLogins = ReturnType<typeof createHttpLogins>;

/** Refused logins that outlive the process: after a restart, a wrong password is not sent again either. */
export interface RefusedLogins {
  has(login: string): Promise<boolean>;
  add(login: string, forMs: number): Promise<void>;
}

/** Sessions with the hosts that asked for a login. */
export function createHttpLogins(now: () => number, kept?: RefusedLogins) {
  const sessions = new LRUCache<string, Session>({ max: MOST_SESSIONS });
  /** by login, the time (epoch ms) until which it is not sent again */
  const refusals = new LRUCache<string, number>({ max: MOST_SESSIONS });
  const keyOf = ({ origin }: LoginTarget, { username, password }: Login) =>
    createHash('sha256')
      .update(JSON.stringify([origin, username, password]))
      .digest('base64');
  const sessionKeyOf = (target: LoginTarget, login: Login) => `${keyOf(target, login)}${target.connection ?? ''}`;
  const next = ({ method, uri }: LoginTarget, login: Login, session: Session): LoginStep => ({
    authorization: authorizationOf(session.challenge, login, {
      method,
      uri,
      count: ++session.count,
      cnonce: session.cnonce,
    }),
  });

  /** Learns what other processes know of a login; to be awaited before the first `begin` of an exchange. */
  const recall = async (target: LoginTarget, login: Login): Promise<void> => {
    const key = keyOf(target, login);
    if (await kept?.has(key)) refusals.set(key, now() + RECALLED_MS);
  };
  /** @returns what to send before any challenge; undefined if the host is not known */
  const begin = (target: LoginTarget, login: Login): LoginStep | undefined => {
    const refusedUntil = refusals.get(keyOf(target, login)) ?? 0;
    if (refusedUntil > now()) return { refused: REFUSED };
    const session = sessions.get(sessionKeyOf(target, login));
    return session && next(target, login, session);
  };
  /**
   * @param sent whether the request before answered a challenge of this exchange
   * @returns the answer to the challenges of a 401
   */
  const answer = (target: LoginTarget, login: Login, challenges: readonly Challenge[], sent: boolean): LoginStep => {
    const key = sessionKeyOf(target, login);
    const challenge = strongest(challenges);
    sessions.delete(key);
    if (challenge === undefined) {
      const asked = challenges.map(({ scheme }) => scheme).join(', ') || 'no scheme';
      return {
        refused: `asks for a login by ${asked}, expected basic or digest (MD5, SHA-256 or SHA-512-256, qop auth)`,
      };
    }
    // A nonce that was valid a moment ago may have expired; any other refusal concerns the login.
    const isStale = challenge.params.get('stale')?.toLowerCase() === 'true';
    if (sent && !isStale) {
      refusals.set(keyOf(target, login), now() + REFUSED_MS);
      kept?.add(keyOf(target, login), REFUSED_MS).catch(() => {});
      return { refused: REFUSED };
    }
    const session = { challenge, cnonce: randomBytes(16).toString('hex'), count: 0 };
    sessions.set(key, session);
    return next(target, login, session);
  };

  return {
    recall,
    begin,
    answer,
    /**
     * Sends a request until its answer is no challenge.
     * @param login undefined: `send` is called once, and must not return challenges
     * @param send sends one request with this value of the header Authorization
     * @throws what `failed` makes of the reason why the login cannot be used or is refused
     */
    async exchange<T>(
      target: LoginTarget,
      login: Login | undefined,
      failed: (why: string) => Error,
      send: (authorization?: string) => Promise<{ result: T } | { challenges: readonly Challenge[] }>,
    ): Promise<T> {
      if (login !== undefined) await recall(target, login);
      let step = login && begin(target, login);
      for (let requests = 1; requests <= MOST_REQUESTS; requests++) {
        if (step !== undefined && 'refused' in step) throw failed(step.refused);
        const sent = await send(step?.authorization);
        if ('result' in sent) return sent.result;
        step = login && answer(target, login, sent.challenges, requests > 1);
      }
      throw failed('answered 401 to each of several logins');
    },
  };
}
