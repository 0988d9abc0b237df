/**
 * A client with the types of openapi-typescript, compiled and run by test/e2e/clients.test.ts. Its arguments: address
 * of the service, API key, two image files. Prints what it received as one line of JSON.
 */
import { readFile } from 'node:fs/promises';
import createClient from 'openapi-fetch';
import type { components, paths } from './openapi.js';

const [baseUrl = '', key = '', beforeFile = '', afterFile = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const before = await readFile(beforeFile);
const after = await readFile(afterFile);

const encoded: components['schemas']['FrameBase64'] = { base64: before.toString('base64') };
const json = await client.POST('/v1/comparisons', {
  params: { header: { Prefer: 'wait=30' } },
  body: { before: encoded, after: after.toString('base64'), camera: 'gate-3', metadata: { ticket: 7 } },
});

const form = await client.POST('/v1/comparisons', {
  params: { header: { Prefer: 'wait=30' } },
  body: { before: beforeFile, after: afterFile, camera: 'gate-3' },
  bodySerializer: () => {
    const data = new FormData();
    data.append('before', new Blob([new Uint8Array(before)]), 'before.jpg');
    data.append('after', new Blob([new Uint8Array(after)]), 'after.jpg');
    data.append('camera', 'gate-3');
    return data;
  },
});

const camera = await client.PUT('/v1/cameras/{id}', {
  params: { path: { id: 'typescript' } },
  body: { before: 'previous', alerts: { severity_rules: [{ kind: 'appear', severity: 'high' }] } },
});
const refused = await client.POST('/v1/comparisons', { body: { before: { base64: 'AAAA' }, after: 'AAAA' } });

process.stdout.write(
  JSON.stringify({
    json: [json.response.status, json.data?.status, json.data?.metadata],
    form: [form.response.status, form.data?.status, form.data?.camera],
    camera: [camera.response.status, camera.data?.before],
    refused: [refused.response.status, refused.error?.field],
  }),
);
