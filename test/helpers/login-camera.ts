/** A camera on 127.0.0.1 that asks for a login. It checks Digest by RFC 7616, apart from the code of the client. */
import { createHash, randomUUID } from 'node:crypto';
import { type Received, startReceiver } from './receiver.js';

export type Scheme = 'basic' | 'digest-md5' | 'digest-md5-sess' | 'digest-sha256' | 'digest-rfc2069' | 'negotiate';

export interface LoginDemand {
  username: string;
  password: string;
  schemes: readonly Scheme[];
  /** requests after which a nonce is stale */
  nonceUses?: number;
  /** whether a stale nonce is called so */
  saysStale?: boolean;
}

/** @returns a function that gives null if the login of a request is right, else the challenges for it */
export function demandLogin(options: LoginDemand) {
  const { username, password, schemes, nonceUses = Number.POSITIVE_INFINITY, saysStale = true } = options;
  const realm = 'camera, "gate"';
  let nonces = 0;
  let uses = 0;
  const ofServer = randomUUID();
  const nonce = () => `${ofServer}-${nonces}`;
  /** counts of the current nonce that were used */
  let counts = new Set<string>();
  let sessionKey: string | undefined;
  const renew = () => {
    sessionKey = undefined;
    nonces++;
    uses = 0;
    counts = new Set();
  };
  renew();

  const challenge = (scheme: Scheme, stale: boolean): string => {
    if (scheme === 'basic') return `Basic realm="camera", charset="UTF-8"`;
    if (scheme === 'negotiate') return 'Negotiate';
    const quoted = realm.replaceAll('"', '\\"');
    const names = { 'digest-md5': 'MD5', 'digest-md5-sess': 'MD5-sess', 'digest-sha256': 'SHA-256' } as const;
    const algorithm = scheme === 'digest-rfc2069' ? '' : names[scheme];
    const rest = algorithm === '' ? '' : `, qop="auth, auth-int", algorithm=${algorithm}, opaque="o"`;
    return `Digest realm="${quoted}", nonce="${nonce()}"${rest}${stale ? ', stale=true' : ''}`;
  };

  /** @returns whether the header is right; 'stale' if only its nonce is old */
  const check = ({ headers, method, path }: Pick<Received, 'headers' | 'method' | 'path'>): boolean | 'stale' => {
    const { authorization = '' } = headers;
    if (authorization.startsWith('Basic '))
      return (
        schemes.includes('basic') &&
        Buffer.from(authorization.slice(6), 'base64').toString() === `${username}:${password}`
      );
    if (!authorization.startsWith('Digest ')) return false;
    const fields = Object.fromEntries(
      [...authorization.matchAll(/([a-z]+\*?)=(?:"((?:[^"\\]|\\.)*)"|([^,\s]+))/g)].map(([, name, quoted, token]) => [
        name,
        quoted?.replace(/\\(.)/g, '$1') ?? token ?? '',
      ]),
    );
    const hash = (text: string) =>
      createHash(fields.algorithm === 'SHA-256' ? 'sha256' : 'md5')
        .update(text)
        .digest('hex');
    const secret = hash(`${username}:${realm}:${password}`);
    // The cnonce of the first request with a nonce holds for all of them.
    sessionKey ??= hash(`${secret}:${fields.nonce}:${fields.cnonce}`);
    const [a1, a2] = [fields.algorithm === 'MD5-sess' ? sessionKey : secret, hash(`${method}:${path}`)];
    const middle = fields.qop === undefined ? '' : `:${fields.nc}:${fields.cnonce}:${fields.qop}`;
    const given = fields['username*']?.replace(/^UTF-8''/, '');
    const name = given === undefined ? fields.username : decodeURIComponent(given);
    const right = fields.response === hash(`${a1}:${fields.nonce}${middle}:${a2}`);
    if (name !== username || fields.realm !== realm || fields.uri !== path || !right) return false;
    if (fields.nonce !== nonce() || ++uses > nonceUses) return 'stale';
    if (fields.nc !== undefined && counts.has(fields.nc)) return false;
    counts.add(fields.nc ?? '');
    return true;
  };

  return (request: Pick<Received, 'headers' | 'method' | 'path'>): string[] | null => {
    const right = check(request);
    if (right === true) return null;
    if (right === 'stale') renew();
    return schemes.map((scheme) => challenge(scheme, right === 'stale' && saysStale));
  };
}

export async function startLoginCamera({ body, ...demand }: LoginDemand & { body: Buffer }) {
  const challengesFor = demandLogin(demand);
  const receiver = await startReceiver((request, response) => {
    const challenges = challengesFor(request);
    if (challenges === null) response.setHeader('content-type', 'image/png').end(body);
    else response.writeHead(401, { 'www-authenticate': challenges }).end('denied');
  });
  const schemesSent = () => receiver.received.map((r) => r.headers.authorization?.split(' ')[0]);
  return { ...receiver, schemesSent };
}
