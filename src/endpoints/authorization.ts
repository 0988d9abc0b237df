/**
 * Values of `authorization` that are no header but a login to sign with: requests to AWS (SQS, SNS, an API Gateway with
 * IAM) and to Google (Pub/Sub). All others are sent as they are.
 */
import { createPrivateKey, sign } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import { isObject } from '../base/is-object.js';

/** A request that is signed. */
export interface SignedRequest {
  readonly url: string;
  /** absent: POST */
  readonly method?: 'PUT' | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

interface Scheme {
  /** what follows its name, for people */
  readonly expected: string;
  /** @returns why the login cannot be read; undefined: it can */
  fault(login: string): string | undefined;
  /** @param at epoch ms. @returns the headers that the request gets */
  sign(request: SignedRequest, login: string, at: number): Promise<Record<string, string>>;
}

const AWS_LOGIN = /^([A-Z0-9]{16,128}):([A-Za-z0-9/+=]{16,128}):([a-z0-9-]{2,32}):([a-z0-9-]{2,32})$/;
/** Google refuses tokens that are valid for longer. */
const TOKEN_S = 3_600;

/** By the first word of `authorization`. */
const SCHEMES: Readonly<Record<string, Scheme>> = {
  'aws-sigv4': {
    expected: '<access key id>:<secret access key>:<region>:<service>',
    fault: (login) => (AWS_LOGIN.test(login) ? undefined : 'it does not have these four parts'),
    sign: async ({ url, method = 'POST', headers, body }, login, at) => {
      const [, accessKeyId = '', secretAccessKey = '', region = '', service = ''] = AWS_LOGIN.exec(login) ?? [];
      const datetime = new Date(at).toISOString().replace(/[:-]|\.\d{3}/g, '');
      const keys = { accessKeyId, secretAccessKey, region, service, datetime };
      const signed = await new AwsV4Signer({
        method,
        url,
        headers: { ...headers },
        body: body as string,
        ...keys,
      }).sign();
      return { authorization: signed.headers.get('authorization') ?? '', 'x-amz-date': datetime };
    },
  },
  'google-service-account': {
    expected: '<the key file in JSON, as base64>',
    fault: (login) => {
      try {
        createPrivateKey(accountOf(login).key);
        return undefined;
      } catch {
        return 'it has no client_email, private_key_id and private_key';
      }
    },
    sign: async ({ url }, login, at) => {
      const { email, id, key } = accountOf(login);
      const seconds = Math.floor(at / 1000);
      const audience = `${new URL(url).origin}/`;
      const claims = { iss: email, sub: email, aud: audience, iat: seconds, exp: seconds + TOKEN_S };
      const [head, body] = [{ alg: 'RS256', typ: 'JWT', kid: id }, claims].map((part) =>
        Buffer.from(JSON.stringify(part)).toString('base64url'),
      );
      const signature = sign('RSA-SHA256', Buffer.from(`${head}.${body}`), key).toString('base64url');
      return { authorization: `Bearer ${head}.${body}.${signature}` };
    },
  },
};

/** @throws Error if it is no key file */
function accountOf(login: string): { email: string; id: string; key: string } {
  const file: unknown = JSON.parse(Buffer.from(login, 'base64').toString());
  const {
    client_email: email,
    private_key_id: id,
    private_key: key,
  } = isObject(file) ? (file as never) : ({} as never);
  if ([email, id, key].every((part) => typeof part === 'string')) return { email, id, key };
  throw new TypeError('no key file of a service account');
}

const read = (authorization: string) => {
  const [name = '', login = ''] = authorization.split(' ');
  return { name, login, scheme: Object.hasOwn(SCHEMES, name) ? SCHEMES[name] : undefined };
};

/** @returns why a login that requests are signed with cannot be read; undefined: it can, or is none */
export function authorizationFault(authorization: string): string | undefined {
  const { name, login, scheme } = read(authorization);
  const fault = scheme?.fault(login);
  return fault === undefined ? undefined : `${fault}, expected ${name} ${scheme?.expected}`;
}

/** @param at epoch ms. @returns the headers of a request, signed if its `authorization` asks for it */
export async function authorized(request: SignedRequest, at: number): Promise<Readonly<Record<string, string>>> {
  const { authorization, ...headers } = request.headers;
  const { login, scheme } = read(authorization ?? '');
  return scheme === undefined
    ? request.headers
    : { ...headers, ...(await scheme.sign({ ...request, headers }, login, at)) };
}
