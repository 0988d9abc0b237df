/** A camera on 127.0.0.1 that asks for a login. It checks Digest by RFC 7616, apart from the code of the client. */
import { createHash } from 'node:crypto';
import { type Received, startReceiver } from './receiver.js';

type Scheme = 'basic' | 'digest-md5' | 'digest-sha256' | 'digest-rfc2069' | 'negotiate';

export async function startLoginCamera(options: {
  username: string;
  password: string;
  schemes: readonly Scheme[];
  body: Buffer;
  /** requests after which a nonce is stale */
  nonceUses?: number;
  /** whether a stale nonce is called so */
  saysStale?: boolean;
}) {
  const { username, password, schemes, body, nonceUses = Number.POSITIVE_INFINITY, saysStale = true } = options;
  const realm = 'camera, "gate"';
  let nonces = 0;
  let uses = 0;
  const nonce = () => `nonce-${nonces}`;
  /** counts of the current nonce that were used */
  let counts = new Set<string>();
  const renew = () => {
    nonces++;
    uses = 0;
    counts = new Set();
  };
  renew();

  const challenge = (scheme: Scheme, stale: boolean): string => {
    if (scheme === 'basic') return `Basic realm="camera", charset="UTF-8"`;
    if (scheme === 'negotiate') return 'Negotiate';
    const quoted = realm.replaceAll('"', '\\"');
    const algorithm = { 'digest-md5': 'MD5', 'digest-sha256': 'SHA-256', 'digest-rfc2069': '' }[scheme];
    const rest = algorithm === '' ? '' : `, qop="auth, auth-int", algorithm=${algorithm}, opaque="o"`;
    return `Digest realm="${quoted}", nonce="${nonce()}"${rest}${stale ? ', stale=true' : ''}`;
  };

  /** @returns whether the header is right; 'stale' if only its nonce is old */
  const check = ({ headers, method, path }: Received): boolean | 'stale' => {
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
    const [a1, a2] = [hash(`${username}:${realm}:${password}`), hash(`${method}:${path}`)];
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

  const receiver = await startReceiver((request, response) => {
    const right = check(request);
    if (right === true) return void response.setHeader('content-type', 'image/png').end(body);
    if (right === 'stale') renew();
    const stale = right === 'stale' && saysStale;
    response.writeHead(401, { 'www-authenticate': schemes.map((scheme) => challenge(scheme, stale)) });
    response.end('denied');
  });
  return {
    ...receiver,
    schemesSent: () => receiver.received.map((r) => r.headers.authorization?.split(' ')[0]),
  };
}
