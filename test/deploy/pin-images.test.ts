/**
 * `scripts/pin-images.mjs` on copies of the files, with a registry on 127.0.0.1 that wants tokens as Docker Hub does.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type Received, type Receiver, startReceiver } from '../helpers/receiver.js';

const FILES = ['Dockerfile', 'deploy/Dockerfile.cuda', 'deploy/compose.yaml', 'deploy/compose.tls.yaml'];
const digestOf = (fill: string) => `sha256:${fill.repeat(64)}`;
let digests: Record<string, string>;
let registry: Receiver;
let root: string;

beforeAll(async () => {
  registry = await startReceiver(answer);
});
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sd-pin-'));
  mkdirSync(join(root, 'deploy'));
  // A release build may have pinned the files of the repository.
  for (const file of FILES)
    writeFileSync(join(root, file), readFileSync(file, 'utf8').replace(/@sha256:[0-9a-f]{64}/g, ''));
  digests = {
    'library/node:22-bookworm-slim': digestOf('a'),
    'nvidia/cuda:13.0.2-cudnn-runtime-ubuntu24.04': digestOf('b'),
    'library/redis:7-bookworm': digestOf('c'),
    'library/caddy:2': digestOf('d'),
    'prom/prometheus:v2.55.1': digestOf('0'),
    'grafana/grafana:11.4.0': digestOf('1'),
  };
});
afterEach(() => rmSync(root, { recursive: true }));
afterAll(() => registry.close());

function answer({ method, path, headers }: Received, response: ServerResponse) {
  const url = new URL(path, registry.url);
  if (url.pathname === '/token') {
    const scope = url.searchParams.get('scope');
    return response.end(JSON.stringify({ token: `${url.searchParams.get('service')} ${scope}` }));
  }
  const [, repository, tag] = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(url.pathname) ?? [];
  const scope = `repository:${repository}:pull`;
  if (headers.authorization !== `Bearer fake ${scope}`) {
    const challenge = `Bearer realm="${registry.url}/token",service="fake",scope="${scope}"`;
    return response.writeHead(401, { 'www-authenticate': challenge }).end();
  }
  const digest = digests[`${repository}:${tag}`];
  // Docker Hub answers with the digest of one platform unless an index is accepted.
  const accepted = headers.accept?.includes('application/vnd.oci.image.index.v1+json') && method === 'HEAD';
  if (digest === undefined || !accepted) return response.writeHead(404).end();
  return response.writeHead(200, { 'docker-content-digest': digest }).end();
}

const pinImages = (): Promise<{ status: unknown; output: string }> =>
  new Promise((resolve) => {
    const args = ['scripts/pin-images.mjs', `--root=${root}`, `--registry=${registry.url}`];
    execFile(process.execPath, args, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : error.code, output: stdout + stderr }),
    );
  });
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const bases = (file: string) => [...read(file).matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);

it('pins every base image and every image of compose files, and says what changed', async () => {
  const { status, output } = await pinImages();
  expect([status, output.trimEnd().split('\n').at(-1)]).toEqual([0, '6 images, 7 changes']);
  expect(output).toContain(`Dockerfile: node:22-bookworm-slim -> node:22-bookworm-slim@${digestOf('a')}\n`);
  const node = `node:22-bookworm-slim@${digestOf('a')}`;
  expect(bases('Dockerfile')).toEqual([node, node]);
  const cuda = `nvidia/cuda:13.0.2-cudnn-runtime-ubuntu24.04@${digestOf('b')}`;
  expect(bases('deploy/Dockerfile.cuda')).toEqual([node, cuda]);
  const { services } = parse(read('deploy/compose.yaml'), { merge: true });
  expect(services.redis.image).toBe(`redis:7-bookworm@${digestOf('c')}`);
  expect(services.api.image).toBe('scenedelta');
  expect(read('deploy/compose.tls.yaml')).toContain(`    image: caddy:2@${digestOf('d')}\n`);
});

it('alters nothing else, and nothing at all on a second run', async () => {
  const before = FILES.map(read);
  await pinImages();
  const after = FILES.map(read);
  expect(after.map((text) => text.replace(/@sha256:[0-9a-f]{64}/g, ''))).toEqual(before);
  expect((await pinImages()).output).toBe('6 images, 0 changes\n');
  expect(FILES.map(read)).toEqual(after);
});

it('replaces a digest when the tag has a new one', async () => {
  await pinImages();
  digests['library/caddy:2'] = digestOf('e');
  const { output } = await pinImages();
  expect(output).toBe(
    `deploy/compose.tls.yaml: caddy:2@${digestOf('d')} -> caddy:2@${digestOf('e')}\n6 images, 1 changes\n`,
  );
});

it('leaves the name of a stage and an image that is built here alone', async () => {
  writeFileSync(join(root, 'Dockerfile'), 'FROM node:22-bookworm-slim AS build\nFROM build\nFROM scratch\n');
  expect((await pinImages()).status).toBe(0);
  expect(bases('Dockerfile').slice(1)).toEqual(['build', 'scratch']);
});

it('writes no file if a tag is unknown, and names it', async () => {
  delete digests['library/redis:7-bookworm'];
  const before = FILES.map(read);
  const { status, output } = await pinImages();
  expect(status).toBe(1);
  expect(output).toMatch(/redis:7-bookworm: 127\.0\.0\.1:\d+ answered 404 with no digest, expected 200/);
  expect(FILES.map(read)).toEqual(before);
});
