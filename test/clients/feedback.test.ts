/** The command against an API in this process; `parsePairs` reads its manifest as `scenedelta evaluate` does. */
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { command } from '../../clients/src/feedback/command.js';
import { parsePairs } from '../../lab/figures/pairs.js';
import { frameKey } from '../../src/base/blobs.js';
import { ScenedeltaError } from '../../src/base/errors.js';
import { storedChange } from '../helpers/changes.js';
import { acceptedComparison } from '../helpers/comparisons.js';
import { fakeApp } from '../helpers/fake-app.js';

const scenedelta = (args: string[]) => command.parseAsync(args, { from: 'user' });

let fake: Awaited<ReturnType<typeof fakeApp>>;
let url: string;
let folder: string;
let said: string[];

beforeAll(async () => {
  fake = await fakeApp();
  await fake.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(fake.app.server.address() as AddressInfo).port}`;
});
beforeEach(async () => {
  fake.reset();
  folder = await mkdtemp(join(tmpdir(), 'sd-feedback-'));
  said = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    said.push(String(text).trimEnd());
    return true;
  });
});
afterEach(async () => {
  jest.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});
afterAll(() => fake.app.close());

/** Stores a change with feedback, and its frames if `bytes` are given. */
const judged = async (name: string, bytes: string | undefined) => {
  const accepted = acceptedComparison();
  await fake.results.create(accepted);
  const best = accepted.comparison.id;
  if (bytes !== undefined) {
    for (const fill of ['a', 'b']) await fake.blobs.put(frameKey(fill.repeat(64)), Buffer.from(bytes + fill));
  }
  const feedback = { judgement: 'false_alarm' as const, at: '2026-01-05T13:00:00.000Z' };
  const change = storedChange({ name, comparisons: { first: best, best, last: best }, feedback });
  fake.changes.kept.push(change);
  return change;
};

describe('scenedelta feedback', () => {
  it('writes a manifest with its frames', async () => {
    const { id } = await judged('car', 'frame ');
    await scenedelta([folder, '--api', url]);
    const [pair] = parsePairs(await readFile(join(folder, 'pairs.ndjson'), 'utf8'), 'pairs.ndjson');
    expect(pair).toMatchObject({ id, verdict: 'none', references: ['there is no change'] });
    expect(await readFile(join(folder, pair?.frames.before ?? ''), 'utf8')).toBe('frame a');
    expect(await readFile(join(folder, pair?.frames.after ?? ''), 'utf8')).toBe('frame b');
    expect(said).toEqual([`1 pair in ${join(folder, 'pairs.ndjson')}`]);
  });

  it('leaves out pairs whose frames are no longer kept, and reports their number', async () => {
    const { comparisons } = await judged('car', undefined);
    await scenedelta([folder, '--api', url]);
    expect(await readFile(join(folder, 'pairs.ndjson'), 'utf8')).toBe('');
    await expect(access(join(folder, `frames/${comparisons.best}-before.png`))).rejects.toThrow('ENOENT');
    expect(said[0]).toContain('the frames of 1 are no longer kept');
  });

  it('sends the key of --key-file', async () => {
    const asked: (string | undefined)[] = [];
    fake.app.server.on('request', (request) => asked.push(request.headers.authorization));
    await writeFile(join(folder, 'key'), 'sd_secret\n');
    await scenedelta([folder, '--api', url, '--key-file', join(folder, 'key')]);
    expect(asked).toEqual(['Bearer sd_secret']);
  });
});

describe('the address of the service', () => {
  /** Runs the command against a service without feedback. @returns the requested addresses */
  const requested = async (args: string[]) => {
    const fetched = jest.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(''));
    await scenedelta([folder, ...args]);
    return fetched.mock.calls.map(([request]) => (request as Request).url);
  };
  const path = '/v1/feedback?format=ndjson';

  it.each([
    ['in the same network by default', [], 'http://127.0.0.1:8080'],
    ['behind a path', ['--api', 'http://site.example/a/b/'], 'http://site.example/a/b'],
  ])('%s', async (_, args, base) => {
    expect(await requested(args)).toEqual([`${base}${path}`]);
  });

  it.each(['localhost:9', 'example.org', 'ftp://host/', 'http://me:secret@host', 'http://host/?a=1'])(
    'refuses %s with one line',
    async (url) => {
      await expect(scenedelta([folder, '--api', url])).rejects.toMatchObject({
        kind: 'usage',
        message: `--api ${JSON.stringify(url)}: expected the address of the API, e.g. http://127.0.0.1:8080`,
      });
    },
  );

  it.each([
    ['a page', '<!doctype html>'],
    ['no object', 'null'],
    [
      'a file outside the folder',
      JSON.stringify({ before: '../../x', after: 'frames/y', frames: { before: '/v1/x', after: '/v1/y' } }),
    ],
  ])('of another server, which answers with %s, is one line', async (_, body) => {
    jest.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(body));
    await expect(scenedelta([folder, '--api', url])).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('expected a line of feedback, got'),
    });
  });

  it('a folder that cannot be created is one line', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(scenedelta([join(folder, 'file', 'inside'), '--api', url])).rejects.toThrow(
      /inside: cannot be written \(ENOTDIR\)$/,
    );
  });
});

describe('bad calls', () => {
  it.each([
    ['no folder', [], "missing required argument 'folder'"],
    ['two folders', ['a', 'b'], 'too many arguments. Expected 1 argument but got 2'],
    ['the former option', ['a', '--url', 'http://127.0.0.1:9'], '--url is gone: use --api'],
    ['a missing key file', ['a', '--key-file', '/no/such/key'], '--key-file /no/such/key: cannot be read'],
    ['an unreachable service', ['a', '--api', 'http://127.0.0.1:9'], 'http://127.0.0.1:9 does not answer'],
  ])('%s is one line', async (_what, args, message) => {
    await expect(scenedelta(args)).rejects.toThrow(message);
  });

  it('passes on the reason of a refusal', async () => {
    jest
      .spyOn(fake.changes, 'withFeedback')
      .mockRejectedValueOnce(new ScenedeltaError('queue-unavailable', 'listing feedback: Redis is away'));
    await expect(scenedelta([folder, '--api', url])).rejects.toThrow(
      `${url}/v1/feedback?format=ndjson answered 503: The queue cannot be reached: listing feedback: Redis is away`,
    );
  });
});
