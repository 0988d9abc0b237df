/**
 * Clients that upload as fast as they are answered, in a process of their own, started with fork(): `uploaders.mjs URL
 * KIND CLIENTS SECONDS HEADERS`. KIND: pair (two 1080p JPEGs per request) or frame (one, of CLIENTS cameras), image
 * (the same without a form). HEADERS: JSON. Sends { uploads, ms }.
 */
import { Agent, request } from 'undici';
import { fresh, fullHdPairs } from './pairs.mjs';
import { formOf } from './service.mjs';

const [url, kind, ...rest] = process.argv.slice(2);
const [clients, seconds, headers] = rest.map((text) => JSON.parse(text));
const pairs = await fullHdPairs();
const dispatcher = new Agent({ connections: clients, pipelining: 1 });

function upload(client, count) {
  const { before, after } = pairs[count % pairs.length];
  if (kind === 'pair') {
    return { path: '/v1/comparisons', form: formOf({ before: fresh(before), after: fresh(after) }) };
  }
  const frame = fresh(count % 2 ? before : after);
  const form = kind === 'image' ? { body: frame, headers: { 'content-type': 'image/jpeg' } } : formOf({ frame });
  return { path: `/v1/cameras/bench-${client}/frames`, form };
}

async function post(client, count) {
  const { path, form } = upload(client, count);
  const { statusCode, body } = await request(`${url}${path}`, {
    method: 'POST',
    body: form.body,
    headers: { ...headers, ...form.headers, prefer: 'respond-async' },
    dispatcher,
  });
  const text = await body.text();
  if (statusCode !== 202) throw new Error(`${path}: expected 202, got ${statusCode}: ${text}`);
}

let uploads = 0;
const start = performance.now();
const client = async (_, index) => {
  for (let count = 0; performance.now() - start < seconds * 1000; count++, uploads++) await post(index, count);
};
await Promise.all(Array.from({ length: clients }, client));
process.send({ uploads, ms: performance.now() - start });
process.disconnect();
await dispatcher.close();
