/** Evidence packages as the API makes them, and `scenedelta verify` on them and on altered ones. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import sharp from 'sharp';
import type { Failure } from '../../clients/src/failure.js';
import { command } from '../../clients/src/verify/command.js';
import { frameKey } from '../../src/base/blobs.js';
import { loadEvidenceKey, publicPem } from '../../src/secrets/evidence-key.js';
import { storedChange } from '../helpers/changes.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { fakeApp } from '../helpers/fake-app.js';
import { storedVisit } from '../helpers/visits.js';
import { contentsOf, opened, repacked } from '../helpers/zip.js';

const MARKUP = '<script>alert(1)</script>';
const NOON = '2026-01-05T12:00:00Z';
const LATER = '2026-01-05T13:00:00Z';
let fake: Awaited<ReturnType<typeof fakeApp>>;
let folder: string;
let key: string;
let headers: { authorization: string };
let ofAdmin: { authorization: string };
let printed: string[];
let change: ReturnType<typeof storedChange>;
const visit = storedVisit();

beforeAll(async () => {
  fake = await fakeApp({ auth: 'on', rateLimit: 0 });
  folder = await mkdtemp(join(tmpdir(), 'sd-evidence-'));
  const keyFor = async (camera: string, scope: 'compare' | 'admin') => {
    const { secret } = await fake.apiKeys.create({ name: camera, scopes: [scope], cameras: [camera] });
    return { authorization: `Bearer ${secret}` };
  };
  headers = await keyFor('gate', 'compare');
  ofAdmin = await keyFor('all', 'admin');
  const zone = {
    id: 'corner',
    type: 'privacy',
    polygon: [
      [0, 0],
      [0.5, 0],
      [0.5, 0.5],
      [0, 0.5],
    ],
  };
  const snapshot = { url: 'http://camera.example/jpg?token=secret', interval_s: 5 };
  await fake.inject({
    method: 'PUT',
    url: '/v1/cameras/gate',
    headers: { ...ofAdmin, 'content-type': 'application/json' },
    payload: { name: MARKUP, zones: [zone], snapshot, alerts: { callback_url: 'https://r.example/in?token=secret' } },
  });
  const white = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'white' } })
    .png()
    .toBuffer();
  const sha256 = createHash('sha256').update(white).digest('hex');
  await fake.blobs.put(frameKey(sha256), white);
  const ref = { from: 'stored' as const, sha256, bytes: white.length, contentType: 'image/png' };
  const stored = acceptedComparison({ before: ref, after: ref, camera: 'gate' });
  const { id } = stored.comparison;
  await fake.results.create(stored);
  await fake.results.update(id, { comparison: finished(stored.comparison, { caption: MARKUP }) });
  const gone = 'cmp_00000000000000000000000009';
  change = storedChange({ caption: `a car ${MARKUP}`, comparisons: { first: gone, best: id, last: id } });
  fake.changes.kept.push(change);
  fake.visits.kept.push({ ...visit, best: { ...visit.best, comparison: id } });
  key = join(folder, 'key.pem');
  await writeFile(key, (await fake.inject({ url: '/v1/evidence/key', headers })).body);
});
beforeEach(() => {
  printed = [];
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.push(String(text).trimEnd());
    return true;
  });
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(async () => {
  await fake.app.close();
  await rm(folder, { recursive: true });
});

async function packed(query: string, login = headers): Promise<Buffer> {
  const answer = await fake.inject({ url: `/v1/evidence?${query}`, headers: login });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/zip']);
  return answer.rawPayload;
}
const verify = async (bytes: Uint8Array, ...args: string[]) => {
  const file = join(folder, 'package.zip');
  await writeFile(file, bytes);
  await command.parseAsync([file, ...args], { from: 'user' });
};

describe('a package', () => {
  it('of a change has its frames as the key may see them, records, settings and times, and is verified', async () => {
    const bytes = await packed(`change=${change.id}`);
    const files = await contentsOf(bytes);
    const { best } = change.comparisons;
    expect([...files.keys()]).toEqual([
      `changes/${change.id}.json`,
      `comparisons/${best}.json`,
      'cameras/gate.json',
      `frames/${best}-before.jpg`,
      `frames/${best}-after.jpg`,
      ...['public-key.pem', 'index.html', 'manifest.json', 'manifest.sig'],
    ]);
    const { data } = await sharp(files.get(`frames/${best}-after.jpg`))
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([data[0], data.at(-1)]).toEqual([0, 255]);
    expect(JSON.parse(String(files.get(`comparisons/${best}.json`)))).toMatchObject({
      model: { sha256: expect.any(String) },
      times: { accepted_at: expect.any(String), captured_at: null },
    });
    expect(String(files.get('cameras/gate.json'))).not.toContain('secret');
    const manifest = JSON.parse(String(files.get('manifest.json')));
    expect(manifest).toMatchObject({
      subject: { change: change.id },
      missing: ['cmp_00000000000000000000000009: the comparison is no longer kept'],
    });
    await verify(bytes, '--key', key);
    expect(printed).toEqual([
      expect.stringMatching(/^7 files are as 20/),
      expect.stringMatching(/^signed by SHA256:[\w+/]{43}$/),
    ]);
    await verify(bytes);
    expect(printed.at(-1)).toContain('compare it with that of the service');
  });

  it('of an admin has no secrets of the addresses of the camera either', async () => {
    const settings = String((await contentsOf(await packed(`change=${change.id}`, ofAdmin))).get('cameras/gate.json'));
    expect(JSON.parse(settings)).toMatchObject({
      snapshot: { url: 'http://camera.example/jpg' },
      alerts: { callback_url: 'https://r.example/in' },
    });
    expect(settings).not.toContain('secret');
  });

  it('has a page in which markup of names and sentences is text', async () => {
    const page = String((await contentsOf(await packed(`change=${change.id}`))).get('index.html'));
    expect(page).not.toContain(MARKUP);
    expect(page).toContain('&lt;script&gt;');
    expect(page).toContain(`"frames/${change.comparisons.best}-after.jpg"`);
  });

  it('of a visit, and of a time range', async () => {
    const ofVisit = await contentsOf(await packed(`visit=${visit.id}`));
    expect([...ofVisit.keys()]).toContain(`visits/${visit.id}.json`);
    const bytes = await packed(`camera=gate&since=${NOON}&until=${LATER}`);
    expect([...(await contentsOf(bytes)).keys()].slice(0, 2)).toEqual([
      `changes/${change.id}.json`,
      `visits/${visit.id}.json`,
    ]);
    await verify(bytes, '--key', key);
    expect(fake.changes.queries.at(-1)).toMatchObject({
      ...{ camera: 'gate', since: Date.parse(NOON), until: Date.parse(LATER) },
    });
  });

  it.each([
    ['', 422, 'expected change, or visit, or camera with since and until'],
    ['camera=gate', 422, 'expected change'],
    [`camera=yard&since=${NOON}&until=${LATER}`, 404, 'There is no camera yard'],
    ['change=chg_00000000000000000000000000', 404, 'There is no change'],
    ['visit=vis_00000000000000000000000000', 404, 'There is no visit'],
  ])('of "%s" is %i', async (query, status, detail) => {
    const answer = await fake.inject({ url: `/v1/evidence?${query}`, headers });
    expect([answer.statusCode, answer.json().detail]).toEqual([status, expect.stringContaining(detail)]);
  });
});

describe('verify', () => {
  let bytes: Buffer;
  beforeAll(async () => {
    bytes = await packed(`visit=${visit.id}`);
  });
  const refused = async (altered: Uint8Array, ...args: string[]) => {
    const error = await verify(altered, ...args).then(
      () => undefined,
      (thrown: Failure) => thrown,
    );
    // `usage` would be the status of a wrong call.
    expect(error?.kind).toBe('refused');
    return [...printed, error?.message].join('\n');
  };

  it('names each kind of file of which one byte was altered', async () => {
    const { zip, entries } = await opened(bytes);
    expect(entries).toHaveLength(9);
    for (const entry of entries) {
      const altered = Buffer.from(bytes);
      const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
      const at = fileDataStart + Math.floor(entry.uncompressedSize / 2);
      altered.writeUInt8(altered.readUInt8(at) ^ 1, at);
      printed = [];
      expect(await refused(altered, '--key', key)).toContain(entry.fileName);
      printed = [];
      expect(await refused(altered)).toContain(entry.fileName);
    }
  });

  it('calls a package altered whose key can no longer be read', async () => {
    const files = await contentsOf(bytes);
    files.set('public-key.pem', Buffer.from('*'));
    expect(await refused(await repacked([...files]))).toContain('public-key.pem is altered');
  });

  it('names files that are missing, additional, twice there, or named otherwise for programs that stream', async () => {
    const files = await contentsOf(bytes);
    const [page, ...rest] = ['index.html', ...[...files.keys()].filter((name) => name !== 'index.html')];
    const pairs = (names: readonly string[]) => names.map((name) => [name, files.get(name) as Buffer] as const);
    expect(await refused(await repacked(pairs(rest)))).toContain(`${page}: missing`);
    printed = [];
    expect(await refused(await repacked([...files, ['frames/new.jpg', Buffer.from('x')]]))).toContain(
      'frames/new.jpg: additional',
    );
    printed = [];
    expect(await refused(await repacked([...files, ['index.html', Buffer.from('x')]]))).toContain(
      'index.html: additional',
    );
    const renamed = Buffer.from(bytes);
    renamed.write('other.html', renamed.indexOf('index.html'));
    printed = [];
    expect(await refused(renamed)).toContain('index.html: altered');
    printed = [];
    const { zip } = await opened(bytes);
    const hidden = Buffer.concat([Buffer.from('PK hidden'), bytes]);
    expect(zip.fileSize).toBe(bytes.length);
    expect(await refused(hidden)).toMatch(/additional|signature/);
  });

  it('refuses the package of another key', async () => {
    const other = generateKeyPairSync('ed25519').publicKey;
    await writeFile(join(folder, 'other.pem'), publicPem(other));
    expect(await refused(bytes, '--key', join(folder, 'other.pem'))).toContain('signed by another key');
  });

  it('unpacks nothing: a bomb, and a path out of the folder, are refused by name', async () => {
    const files = await contentsOf(bytes);
    const zeros = Buffer.alloc(8 * 1024 * 1024);
    const bomb = (name: string) =>
      repacked(
        [...files, [name, zeros] as const].filter(([, one], i, all) => one === zeros || all[i]?.[0] !== name),
        (one) => one === name,
      );
    for (const name of ['manifest.json', 'index.html']) {
      printed = [];
      expect(await refused(await bomb(name))).toContain(`${name}`);
    }
    const outside = await repacked([...files, ['xx/evil.txt', Buffer.from('x')]]);
    const path = Buffer.from(outside.toString('latin1').replaceAll('xx/evil.txt', '../evil.txt'), 'latin1');
    expect(await refused(path)).toContain('../evil.txt');
  });

  it.each([
    ['no zip', Buffer.from('hello')],
    ['an empty file', Buffer.alloc(0)],
  ])('refuses %s in one line', async (_what, content) => {
    expect(await refused(content)).toContain('package.zip: ');
  });

  it.each([
    ['a missing key', '/no/such/key', 'cannot be read (ENOENT)'],
    ['no key', import.meta.filename ?? __filename, 'expected an Ed25519 key as PEM'],
  ])('refuses %s as a wrong call', async (_what, file, message) => {
    await expect(verify(bytes, '--key', file)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining(message),
    });
  });
});

it('the key is made once in the data folder, for its owner alone; EVIDENCE_KEY_FILE names another', async () => {
  const made = await Promise.all([1, 2, 3].map(() => loadEvidenceKey({ evidenceKeyFile: null, dataDir: folder })));
  expect(new Set(made.map(publicPem)).size).toBe(1);
  const file = join(folder, 'evidence.key');
  expect(await readFile(file, 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----/);
  const [kept] = made;
  const again = await loadEvidenceKey({ evidenceKeyFile: file, dataDir: '/nowhere' });
  expect(kept && publicPem(kept)).toBe(publicPem(again));
  await writeFile(join(folder, 'bad.pem'), 'hunter2');
  const loading = loadEvidenceKey({ evidenceKeyFile: join(folder, 'bad.pem'), dataDir: folder });
  await expect(loading).rejects.toThrow('expected an Ed25519 key as PEM');
  await expect(loading).rejects.not.toThrow('hunter2');
});
