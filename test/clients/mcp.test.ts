/** `scenedelta mcp` asked by the client of the SDK, on stdio and by HTTP, in front of one API with keys. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import sharp from 'sharp';
import { storedChange } from '../helpers/changes.js';
import { type ConsoleService, startConsole } from '../helpers/console-service.js';
import { storedVisit } from '../helpers/visits.js';

jest.setTimeout(60_000);

const MAIN = resolve('dist/cli/main.js');
let service: ConsoleService;
let folder: string;
let secrets: { gate: string; other: string };
let comparison: string;
let http: { url: URL; stop(): Promise<unknown> };
let stdio: Client;
beforeAll(async () => {
  service = await startConsole({ auth: 'on', rateLimit: 0, waitLimit: 0 });
  folder = await mkdtemp(join(tmpdir(), 'sd-mcp-'));
  const keyFor = async (camera: string, scope: 'compare' | 'admin' = 'compare') =>
    (await service.apiKeys.create({ name: camera, scopes: [scope], cameras: [camera] })).secret;
  secrets = { gate: await keyFor('gate'), other: await keyFor('yard') };
  const headers = { authorization: `Bearer ${await keyFor('all', 'admin')}`, 'content-type': 'application/json' };
  for (const camera of ['gate', 'new']) {
    await fetch(`${service.url}/v1/cameras/${camera}`, { method: 'PUT', headers, body: '{"name":"Gate <3>"}' });
  }
  comparison = await service.addComparison({ caption: 'a car has left' }, 'gate');
  const comparisons = { first: comparison, best: comparison, last: comparison };
  service.addChange(storedChange({ caption: 'a red car has left', kind: 'disappear', comparisons }));
  service.visits.kept.push(storedVisit());
  await writeFile(join(folder, 'key'), secrets.gate);
  [http, stdio] = await Promise.all([serveHttp(), openStdio('--key-file', join(folder, 'key'))]);
});
afterAll(async () => {
  await Promise.all([stdio.close(), http.stop()]);
  await service.stop();
  await rm(folder, { recursive: true });
});

const env = () => ({ ...(process.env as Record<string, string>), DATA_DIR: folder });
const start = (...args: string[]) =>
  spawn(process.execPath, [MAIN, 'mcp', '--api', service.url, ...args], { env: env() });
async function opened(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return client;
}
const openStdio = (...args: string[]) =>
  opened(
    new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, 'mcp', '--api', service.url, ...args],
      env: env(),
    }),
  );
const openHttp = (secret: string | undefined) => {
  const headers: Record<string, string> = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
  return opened(new StreamableHTTPClientTransport(http.url, { requestInit: { headers } }) as Transport);
};
async function serveHttp(...args: string[]) {
  const child = start('--http', '127.0.0.1:0', ...args);
  const [line] = await once(child.stderr.setEncoding('utf8'), 'data');
  const url = new URL(/http:\S+/.exec(line)?.[0] ?? '');
  return { url, stop: () => Promise.all([once(child, 'exit'), child.kill()]) };
}

interface Content {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly uri?: string;
}
async function call(client: Client, name: string, args: object = {}) {
  const { content, isError } = await client.callTool({ name, arguments: { ...args } });
  const [first, ...rest] = content as [Content, ...Content[]];
  return { isError: isError === true, text: first.text ?? '', first, rest };
}
const items = async (client: Client, name: string, args: object = {}) =>
  JSON.parse((await call(client, name, args)).text).items as Record<string, unknown>[];
const sizeOf = async (data = '') => {
  const { width, height } = await sharp(Buffer.from(data, 'base64')).metadata();
  return [width, height];
};

describe.each([
  ['stdio', async () => stdio],
  ['HTTP', () => openHttp(secrets.gate)],
])('by %s, an agent', (_by, open) => {
  let client: Client;
  beforeAll(async () => {
    client = await open();
  });
  afterAll(async () => {
    if (client !== stdio) await client.close();
  });

  it('finds tools that only read, each with the arguments of the API', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(
      ['ask', 'brief', 'cameras', 'changes', 'comparison', 'picture', 'search', 'visits'].sort(),
    );
    for (const { annotations } of tools) expect(annotations?.readOnlyHint).toBe(true);
    const { inputSchema } = tools.find(({ name }) => name === 'ask') ?? {};
    expect(inputSchema).toMatchObject({
      required: ['id', 'sentence'],
      properties: { sentence: { type: 'string', maxLength: 500 } },
    });
    expect(JSON.stringify(tools)).not.toContain('$ref');
  });

  it('reads cameras, changes and visits of the key, with links to their pictures', async () => {
    expect(await items(client, 'cameras')).toEqual([
      { id: 'gate', name: 'Gate <3>', overview: expect.objectContaining({ comparison }) },
    ]);
    const { text, rest } = await call(client, 'changes', { camera: 'gate', limit: 5 });
    expect(JSON.parse(text).items).toEqual([expect.objectContaining({ caption: 'a red car has left' })]);
    expect(rest).toEqual([
      {
        ...{ type: 'resource_link', uri: `scenedelta://comparisons/${comparison}/frames/after` },
        name: 'gate: a red car has left',
      },
    ]);
    const { contents } = await client.readResource({ uri: rest[0]?.uri ?? '' });
    expect(await sizeOf((contents[0] as { blob: string }).blob)).toEqual([768, 576]);
    expect((await items(client, 'visits', { q: 'person' }))[0]).not.toHaveProperty('path');
  });

  it('searches by words, and reads the brief as Markdown', async () => {
    const found = await items(client, 'search', { q: 'red vehicle' });
    expect(found).toMatchObject([{ match: { words: [{ word: 'red' }, { word: 'vehicle', matched: 'car' }] } }]);
    expect((await call(client, 'brief', { day: '2026-01-05' })).text).toMatch(/^# .*\n/);
  });

  it('asks about a comparison', async () => {
    service.questions.answer = { probability: 0.75, model: 'm' };
    const { text } = await call(client, 'ask', { id: comparison, sentence: 'a car has left' });
    expect(JSON.parse(text)).toMatchObject({ probability: 0.75 });
    expect(service.questions.asked.at(-1)).toMatchObject({ comparison, sentence: 'a car has left' });
  });

  it('sees the newest picture of a camera, small and in full, as an image and as a resource', async () => {
    const { text, rest } = await call(client, 'picture', { camera: 'gate' });
    expect(text).toMatch(/^20\d\d-.*: /);
    expect(await sizeOf(rest[0]?.data)).toEqual([480, 360]);
    const full = await call(client, 'picture', { comparison, side: 'before', size: 'full' });
    expect(await sizeOf(full.first.data)).toEqual([768, 576]);
    const { resources } = await client.listResources();
    expect(resources).toEqual([expect.objectContaining({ uri: 'scenedelta://cameras/gate/picture' })]);
    const { contents } = await client.readResource({ uri: 'scenedelta://cameras/gate/picture' });
    expect(contents[0]).toMatchObject({ mimeType: 'image/jpeg' });
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(2);
  });

  it.each([
    ['changes', { severity: 'huge' }, /^4\d\d .+severity/],
    ['changes', { colour: 'red' }, /no argument colour: expected camera, zone/],
    ['comparison', { id: 'cmp_00000000000000000000000000' }, '404 No such resource: '],
    ['comparison', { id: '../camera/settings' }, /^4\d\d /],
    ['picture', { camera: 'yard' }, '404 No such resource: '],
    ['picture', {}, 'expected either `camera` or `comparison`'],
    ['compare', {}, 'no tool compare: expected '],
  ])('gets the reason why %s %j is refused', async (name, args, reason) => {
    const { isError, text } = await call(client, name, args);
    expect(isError).toBe(true);
    if (typeof reason === 'string') expect(text).toContain(reason);
    else expect(text).toMatch(reason);
  });

  it.each(['scenedelta://cameras/../picture', 'file:///etc/passwd'])('cannot read %s', async (uri) => {
    await expect(client.readResource({ uri })).rejects.toThrow();
  });
});

describe('by HTTP, the key of each client decides', () => {
  it('which cameras it sees', async () => {
    const [other, none] = [await openHttp(secrets.other), await openHttp(undefined)];
    expect(await items(other, 'visits')).toEqual([]);
    expect(await call(none, 'changes')).toMatchObject({ isError: true, text: expect.stringMatching(/^401 /) });
    await Promise.all([other.close(), none.close()]);
  });

  it.each([
    ['a page', {}, '/mcp', { origin: 'http://127.0.0.1' }, 403],
    ['another path', {}, '/', {}, 404],
    ['another method', { method: 'GET', body: null }, '/mcp', {}, 405],
    ['no JSON', { body: '{' }, '/mcp', {}, 400],
    ['a body that is too large', { body: ' '.repeat(4_200_000) }, '/mcp', {}, 413],
  ])('%s is refused', async (_what, init, path, headers, status) => {
    const type = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const request = { method: 'POST', body: '{}', ...init, headers: { ...type, ...headers } };
    expect((await fetch(new URL(path, http.url), request)).status).toBe(status);
  });
});

it('with --allow-jobs, compares two frames and starts the search for a moment', async () => {
  const client = await openStdio('--key-file', join(folder, 'key'), '--allow-jobs');
  const { tools } = await client.listTools();
  for (const name of ['compare', 'when', 'when_result']) {
    const tool = tools.find((one) => one.name === name);
    expect([name, tool?.annotations?.readOnlyHint]).toEqual([name, false]);
  }
  const before = (
    await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
      .png()
      .toBuffer()
  ).toString('base64');
  const { text } = await call(client, 'compare', { before: { base64: before }, after: { base64: before } });
  expect(JSON.parse(text)).toMatchObject({ status: 'queued' });
  expect(
    await call(client, 'when', { inputs: ['https://h/a.mp4'], roi: { x: 0, y: 0, width: 1, height: 1 } }),
  ).toMatchObject({ isError: true, text: expect.stringContaining('403 The API key lacks the scope') });
  await client.close();
});

it.each([
  [['--http', 'everywhere'], '--http "everywhere": expected an address and a port, as 127.0.0.1:8090'],
  [['--http', '127.0.0.1:0', '--key-file', 'key'], '--key-file and --http: expected one'],
])('%j is refused in one line', async (args, message) => {
  const child = start(...args);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  expect((await once(child, 'close'))[0]).toBe(2);
  expect(stderr.trim().split('\n')).toEqual([expect.stringContaining(message)]);
});

it('ends when its client goes', async () => {
  const child = start();
  child.stdin.end();
  expect((await once(child, 'close'))[0]).toBe(0);
});
