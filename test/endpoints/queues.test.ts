/** Alerts to queues by templates: the examples of docs/alerts.md against strict receivers. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { authorizationFault, authorized } from '../../src/endpoints/authorization.js';
import { templateFault } from '../../src/endpoints/formats/template.js';
import { render } from '../../src/endpoints/render.js';
import { endpointMessage, SECRET } from '../helpers/endpoints.js';
import { kafkaFault, pubSubFault, SQS, sqsFault } from '../helpers/queues-of-clouds.js';
import type { Received } from '../helpers/receiver.js';

const NOW = Date.parse('2026-06-01T12:00:00Z');
const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const ACCOUNT = { client_email: 'alerts@site.iam.gserviceaccount.com', private_key_id: 'k1', private_key: privateKey };
const KEY_FILE = Buffer.from(JSON.stringify(ACCOUNT)).toString('base64');
const AWS = `aws-sigv4 ${SQS.id}:${SQS.secret}:${SQS.region}:sqs`;

/** The settings of an example of the documents. */
function exampleOf(name: string): { url: string; content_type?: string; template: string } {
  const page = readFileSync('docs/alerts.md', 'utf8');
  const [, json] = new RegExp(`<!-- queue: ${name} -->\\s+\`\`\`json\\n([\\s\\S]+?)\`\`\``).exec(page) ?? [];
  return JSON.parse(json ?? 'null');
}

async function sent(name: string, authorization: string | null, caption: string): Promise<Received> {
  const { url, template, content_type: contentType = 'application/json' } = exampleOf(name);
  expect(templateFault(template, contentType)).toBeUndefined();
  const receiver = { url, authorization, signing: [{ secret: SECRET, expiresAt: null }] };
  const message = endpointMessage('change.opened', { zone: 'door', caption });
  const request = render('template', message, { ...receiver, template: { text: template, contentType } });
  const body = String(request.body);
  const headers = await authorized({ url: request.url, headers: request.headers, body }, NOW);
  const { host, pathname } = new URL(url);
  return { method: 'POST', path: pathname, headers: { host, ...headers }, body };
}

describe.each(['A red car has appeared.', 'A "red" car & a 100 % bag + más, 車\n\\'])(
  'An alert that says %j',
  (caption) => {
    it('goes to a topic of Kafka REST', async () => {
      const request = await sent('kafka', 'Basic dXNlcjpwYXNz', caption);
      expect(kafkaFault(request)).toBeUndefined();
      expect(request.headers.authorization).toBe('Basic dXNlcjpwYXNz');
      expect(JSON.parse(request.body).records[0].value.change.caption).toBe(caption);
    });

    it('goes to SQS, signed', async () => {
      const request = await sent('sqs', AWS, caption);
      expect(sqsFault(request, NOW)).toBeUndefined();
      expect(JSON.parse(new URLSearchParams(request.body).get('MessageBody') ?? '').change.caption).toBe(caption);
    });

    it('goes to Pub/Sub, with a token of the service account', async () => {
      const request = await sent('pubsub', `google-service-account ${KEY_FILE}`, caption);
      const account = { publicKey, email: ACCOUNT.client_email, id: 'k1' };
      expect(pubSubFault(request, { now: NOW, origin: 'https://pubsub.googleapis.com', ...account })).toBeUndefined();
      const [{ data }] = JSON.parse(request.body).messages;
      expect(JSON.parse(Buffer.from(data, 'base64').toString()).change.caption).toBe(caption);
    });
  },
);

it('a signature holds for its body, its key and its time alone', async () => {
  const request = await sent('sqs', AWS, 'A car.');
  expect(sqsFault({ ...request, body: `${request.body}x` }, NOW)).toBe('SignatureDoesNotMatch');
  expect(sqsFault(request, NOW + 16 * 60_000)).toContain('expired');
  const other = await sent('sqs', AWS.replace('EXAMPLEKEY', 'EXAMPLEKEZ'), 'A car.');
  expect(sqsFault(other, NOW)).toBe('SignatureDoesNotMatch');
});

it.each([
  ['aws-sigv4 AKID', 'it does not have these four parts, expected aws-sigv4 <access key id>:<secret access key>:'],
  ['google-service-account e30=', 'it has no client_email, private_key_id and private_key, expected'],
  ['Bearer aws-sigv4', undefined],
  ['constructor x', undefined],
])('the login %j: %s', (authorization, fault) => {
  if (fault === undefined) expect(authorizationFault(authorization)).toBeUndefined();
  else expect(authorizationFault(authorization)).toContain(fault);
});
