/**
 * Digest authentication of HTTP (RFC 7616: MD5 and SHA-256, qop=auth, and without qop as in RFC 2069). Basic is not
 * answered: any host can answer a probe, and would get the password.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Login } from './soap.js';

/** In the order of preference. */
const HASHES = [
  ['SHA-256', 'sha256'],
  ['MD5', 'md5'],
] as const;

/** Requests by the nonce that they used: some cameras give one nonce several times. */
export type NonceCounts = Map<string, number>;

/**
 * @param challenges value of WWW-Authenticate
 * @param uri path and query of a POST
 * @param counts of the camera, changed
 * @returns the value of Authorization; undefined if no challenge can be answered
 */
export function digestAuthorization(
  challenges: string,
  login: Login,
  uri: string,
  counts: NonceCounts,
): string | undefined {
  const offered = challenges
    .split(/(?:^|,\s*)Digest\s+/i)
    .slice(1)
    .map(parametersOf);
  for (const [algorithm, hashName] of HASHES) {
    const challenge = offered.find((one) => (one.algorithm ?? 'MD5').toUpperCase() === algorithm);
    if (challenge?.nonce === undefined || !(challenge.qop ?? 'auth').split(/[,\s]+/).includes('auth')) continue;
    const { realm = '', nonce, qop, opaque } = challenge;
    const hash = (...parts: readonly string[]) => createHash(hashName).update(parts.join(':')).digest('hex');
    const cnonce = randomBytes(16).toString('hex');
    const count = (counts.get(nonce) ?? 0) + 1;
    counts.set(nonce, count);
    const nc = count.toString(16).padStart(8, '0');
    const counted = qop === undefined ? [] : [nc, cnonce, 'auth'];
    const isAscii = /^[\x20-\x7e]*$/.test(login.username);
    const fields = {
      ...(isAscii && { username: login.username }),
      realm,
      nonce,
      uri,
      response: hash(hash(login.username, realm, login.password), nonce, ...counted, hash('POST', uri)),
      ...(opaque !== undefined && { opaque }),
      ...(qop !== undefined && { cnonce }),
    };
    const quoted = Object.entries(fields).map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`);
    const bare = [
      `algorithm=${algorithm}`,
      ...(qop === undefined ? [] : ['qop=auth', `nc=${nc}`]),
      ...(isAscii ? [] : [`username*=UTF-8''${encodeURIComponent(login.username)}`]),
    ];
    return `Digest ${[...quoted, ...bare].join(', ')}`;
  }
  return undefined;
}

/** @returns the parameters of one challenge, names in lower case */
function parametersOf(challenge: string): Readonly<Record<string, string | undefined>> {
  const parameters = challenge.matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g);
  return Object.fromEntries(
    [...parameters].map(([, name = '', quoted, token]) => [
      name.toLowerCase(),
      quoted?.replace(/\\(.)/g, '$1') ?? token,
    ]),
  );
}
