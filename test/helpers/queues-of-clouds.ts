/**
 * The queues of others as strict as their documentation: Kafka REST v2, SQS (Query API), Pub/Sub. Each names the fault
 * of a request. Signatures are verified independently of the code that makes them.
 */
import { createHash, createHmac, createVerify } from 'node:crypto';
import type { Received } from './receiver.js';

type Fault = string | undefined;
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** https://docs.confluent.io/platform/current/kafka-rest/api.html#post--topics-(string-topic_name) */
export function kafkaFault({ method, path, headers, body }: Received): Fault {
  if (method !== 'POST' || !/^\/topics\/[\w.-]+$/.test(path)) return `40401: ${method} ${path}`;
  if (headers['content-type'] !== 'application/vnd.kafka.json.v2+json') return '415: no embedded format';
  const { records, ...more } = JSON.parse(body);
  if (!Array.isArray(records) || records.length === 0 || Object.keys(more).length > 0) return '42201: no records';
  const unknown = records.flatMap(Object.keys).find((name) => !['key', 'value', 'partition'].includes(name));
  return unknown === undefined ? undefined : `42201: ${unknown} is unknown`;
}

export const SQS = {
  id: 'AKIDEXAMPLE12345678',
  secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'eu-central-1',
};

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-xml.html */
export function sqsFault({ method, path, headers, body }: Received, now: number): Fault {
  const scheme = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8}\/[^,]+), SignedHeaders=([^,]+), Signature=(\w{64})$/;
  const [, id, scope = '', names = '', signature] = scheme.exec(headers.authorization ?? '') ?? [];
  if (id !== SQS.id) return 'MissingAuthenticationToken';
  const date = headers['x-amz-date'] ?? '';
  if (scope !== `${date.slice(0, 8)}/${SQS.region}/sqs/aws4_request`) return `SignatureDoesNotMatch: ${scope}`;
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!(Math.abs(at - now) < 15 * 60_000)) return `SignatureDoesNotMatch: Signature expired: ${date}`;
  const signed = names.split(';');
  if (!signed.includes('host') || !signed.includes('x-amz-date')) return 'SignatureDoesNotMatch: host is not signed';
  const lines = signed.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}\n`);
  const canonical = [method, path, '', lines.join(''), names, sha256(body)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${SQS.secret}`);
  const expected = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')).toString('hex');
  if (signature !== expected) return 'SignatureDoesNotMatch';
  if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded')) return 'InvalidAction';
  const form = Object.fromEntries(new URLSearchParams(body));
  if (form.Action !== 'SendMessage' || form.Version !== '2012-11-05') return `InvalidAction: ${form.Action}`;
  return Buffer.byteLength(form.MessageBody ?? '') === 0 ? 'MissingParameter: MessageBody' : undefined;
}

/** https://developers.google.com/identity/protocols/oauth2/service-account#jwt-auth and projects.topics.publish */
export function pubSubFault(
  { method, path, headers, body }: Received,
  { now, origin, publicKey, email, id }: { now: number; origin: string; publicKey: string; email: string; id: string },
): Fault {
  const [head = '', claims = '', signature = ''] = (headers.authorization ?? '').replace(/^Bearer /, '').split('.');
  const verified = createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url');
  if (!verified) return '401 UNAUTHENTICATED';
  const [{ alg, kid }, { iss, sub, aud, iat, exp }] = [head, claims].map((part) =>
    JSON.parse(Buffer.from(part, 'base64url').toString()),
  ) as [Record<string, unknown>, Record<string, number | string>];
  if (alg !== 'RS256' || kid !== id || iss !== email || sub !== email) return '401: not the key of this account';
  if (aud !== `${origin}/`) return `401: audience ${aud}`;
  if (Number(iat) > now / 1000 + 60 || Number(exp) <= now / 1000 || Number(exp) - Number(iat) > 3_600)
    return '401: time';
  if (method !== 'POST' || !/^\/v1\/projects\/[\w-]+\/topics\/[\w-]+:publish$/.test(path)) return `404: ${path}`;
  const { messages, ...more } = JSON.parse(body);
  if (!Array.isArray(messages) || messages.length === 0 || Object.keys(more).length > 0) return '400: no messages';
  const isBase64 = messages.every(({ data }) => Buffer.from(data, 'base64').toString('base64') === data);
  const areTexts = messages.every(({ attributes = {} }) =>
    Object.values(attributes).every((value) => typeof value === 'string'),
  );
  return isBase64 && areTexts ? undefined : '400 INVALID_ARGUMENT';
}
