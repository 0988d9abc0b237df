import { chmod, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type BlobStore, frameKey, heatmapKey } from '../../src/base/blobs.js';
import { createFileBlobStore } from '../../src/stores/blobs/files.js';
import { createS3BlobStore } from '../../src/stores/blobs/s3.js';
import { createS3Client, type S3Client } from '../../src/stores/blobs/s3-client.js';
import { sourcesOnly } from '../../src/stores/blobs/s3-sources.js';
import { startS3, type TestS3 } from '../helpers/s3.js';

const DAY = 86_400_000;
const a = frameKey('a'.repeat(64));
const b = frameKey('b'.repeat(64));
const bytes = (text: string) => new TextEncoder().encode(text);

let folder: string;
let s3: TestS3;
let client: S3Client;
let google: TestS3;
let googleClient: S3Client;

const clientOf = (server: TestS3, region: string): S3Client => {
  const made = createS3Client({
    s3Endpoint: `${server.endpoint}/`,
    s3Region: region,
    s3AccessKeyId: server.accessKeyId,
    s3SecretAccessKey: server.secretAccessKey,
    outboundTimeoutMs: 5_000,
  });
  if (made === undefined) throw new Error('S3_ENDPOINT was set');
  return made;
};
beforeAll(async () => {
  s3 = await startS3();
  client = clientOf(s3, 'eu-test-1');
  google = await startS3(0, 'google');
  googleClient = clientOf(google, 'auto');
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-blobs-'));
  s3.objects.clear();
  google.objects.clear();
  s3.failWith(undefined);
});
afterEach(() => rm(folder, { recursive: true }));
afterAll(async () => {
  for (const one of [client, googleClient]) one.close();
  for (const one of [s3, google]) await one.stop();
});

const onS3 = (through: S3Client, { objects }: TestS3) => ({
  store: createS3BlobStore(through, 'frames-bucket'),
  age: async (key: string) => {
    const object = objects.get(`frames-bucket/${key}`);
    if (object !== undefined) object.lastModified -= DAY;
  },
});
const kinds: [string, () => { store: BlobStore; age: (key: string) => Promise<void> }][] = [
  [
    'files',
    () => ({
      store: createFileBlobStore(join(folder, 'blobs')),
      age: (key) => utimes(join(folder, 'blobs', key), new Date(Date.now() - DAY), new Date(Date.now() - DAY)),
    }),
  ],
  ['S3', () => onS3(client, s3)],
  ['Google Cloud Storage', () => onS3(googleClient, google)],
];

describe.each(kinds)('blobs as %s', (_kind, make) => {
  it('are read as they were written, by another process too', async () => {
    await make().store.put(a, bytes('one'));
    expect(Buffer.from((await make().store.get(a)) ?? []).toString()).toBe('one');
  });

  it('are undefined if there are none, and deleting them is no error', async () => {
    const { store } = make();
    expect(await store.get(a)).toBeUndefined();
    await store.delete(a);
  });

  it('are gone once deleted', async () => {
    const { store } = make();
    await store.put(a, bytes('one'));
    await store.delete(a);
    expect(await store.get(a)).toBeUndefined();
  });

  it('are deleted by age, too', async () => {
    const { store, age } = make();
    for (const key of [a, b]) await store.put(key, bytes('one'));
    await age(a);
    for (const key of [a, b]) await store.delete(key, Date.now() - DAY / 2);
    expect([await store.get(a), await store.get(b)]).toEqual([undefined, expect.anything()]);
  });

  it('are swept by age and prefix; writing one again makes it young', async () => {
    const { store, age } = make();
    const keys = ['0', '1', '2', '3', '4', '5', '6'].map((fill) => frameKey(fill.repeat(64)));
    const maps = heatmapKey('cmp_00000000000000000000000000');
    for (const key of [...keys, a, b, maps]) await store.put(key, bytes(key));
    for (const key of [...keys, a, maps]) await age(key);
    await store.put(a, bytes(a));
    expect(await store.sweep('frames', Date.now() - DAY / 2)).toBe(keys.length);
    for (const key of keys) expect(await store.get(key)).toBeUndefined();
    for (const key of [a, b, maps]) expect(await store.get(key)).toBeDefined();
  });

  it('of nothing are swept without an error', async () => {
    expect(await make().store.sweep('frames', Date.now())).toBe(0);
  });

  it('written by many at once under one key are whole', async () => {
    const { store } = make();
    await Promise.all(Array.from({ length: 20 }, () => store.put(a, bytes('x'.repeat(100_000)))));
    expect((await store.get(a))?.byteLength).toBe(100_000);
  });

  it.each(['../escape', '/etc/passwd', 'frames/../../x', 'Frames/X', 'frames//x', '', 'frames/.hidden/..'])(
    'refuse the key %j',
    async (key) => {
      await expect(async () => make().store.put(key, bytes('x'))).rejects.toMatchObject({ code: 'internal' });
    },
  );
});

describe('files', () => {
  it("are readable by the service's own user alone, also below a folder that was open to all", async () => {
    const root = join(folder, 'blobs');
    await mkdir(root, { mode: 0o755 });
    await createFileBlobStore(root).put(a, bytes('x'));
    const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
    expect(await modeOf(root)).toBe('700');
    expect(await modeOf(join(root, dirname(a)))).toBe('700');
    expect(await modeOf(join(root, a))).toBe('600');
  });

  it('leave no half file behind under any name', async () => {
    const store = createFileBlobStore(folder);
    await Promise.all([store.put(a, bytes('1')), store.put(a, bytes('1')), store.put(b, bytes('2'))]);
    const names = await readdir(folder, { recursive: true });
    expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('on a full disk are storage-unavailable, without the path in the message, and leave nothing half', async () => {
    const store = createFileBlobStore(folder, {
      writeTo: async (file, bytes) => {
        await file.write(bytes.subarray(0, 1));
        throw Object.assign(new Error(`ENOSPC: no space left on device, write '${folder}'`), {
          code: 'ENOSPC',
        });
      },
    });
    await expect(store.put(a, bytes('xyz'))).rejects.toMatchObject({
      code: 'storage-unavailable',
      message: 'writing in the data folder failed: the disk is full (ENOSPC)',
    });
    expect(await store.get(a)).toBeUndefined();
    expect(await readdir(join(folder, 'frames', 'aa'))).toEqual([]);
  });

  it('in a folder that cannot be made are storage-unavailable', async () => {
    await writeFile(join(folder, 'blobs'), 'a file where the folder should be');
    const store = createFileBlobStore(join(folder, 'blobs'));
    await expect(store.put(a, bytes('x'))).rejects.toMatchObject({ code: 'storage-unavailable' });
  });

  it('are written again after their folder was removed under a running process', async () => {
    const store = createFileBlobStore(folder);
    await store.put(a, bytes('x'));
    await rm(join(folder, 'frames'), { recursive: true });
    await expect(store.put(a, bytes('x'))).rejects.toMatchObject({ code: 'storage-unavailable' });
    await store.put(a, bytes('x'));
    expect(await store.get(a)).toBeDefined();
  });

  const asRoot = process.getuid?.() === 0;
  (asRoot ? it.skip : it)('without permission are storage-unavailable', async () => {
    await mkdir(join(folder, 'locked'));
    await chmod(join(folder, 'locked'), 0o500);
    await expect(createFileBlobStore(join(folder, 'locked')).put(a, bytes('x'))).rejects.toMatchObject({
      code: 'storage-unavailable',
      message: expect.stringContaining('EACCES'),
    });
  });
});

describe('S3', () => {
  it('reads keys with every awkward character, signed as the service expects', async () => {
    const key = "lobby cam/2026-11-21 (1)+2!'*~é&?=%.jpg";
    await client.put('bucket', key, bytes('frame'));
    expect(Buffer.from((await client.get('bucket', key)) ?? []).toString()).toBe('frame');
  });

  it('that answers 500 is storage-unavailable, and its words stay with it', async () => {
    s3.failWith(500);
    const store = createS3BlobStore(client, 'frames-bucket');
    // One after the other: a rejection that is not awaited yet ends the process.
    const calls = [
      () => store.put(a, bytes('x')),
      () => store.get(a),
      () => store.delete(a),
      () => store.sweep('frames', 0),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({
        code: 'storage-unavailable',
        message: expect.not.stringContaining('secret words'),
      });
    }
  });

  it('stops reading an object above the limit', async () => {
    await client.put('bucket', 'big', bytes('x'.repeat(1000)));
    await expect(client.get('bucket', 'big', { maxBytes: 999 })).rejects.toMatchObject({
      code: 'payload-too-large',
    });
    expect((await client.get('bucket', 'big', { maxBytes: 1000 }))?.byteLength).toBe(1000);
  });

  it('never reads another bucket by way of a key', async () => {
    await client.put('payroll', 'a.jpg', bytes('x'));
    await expect(client.get('bucket', '../payroll/a.jpg')).rejects.toMatchObject({ code: 'url-failed' });
  });

  it('gives callers the buckets that are listed, and never that of the frames', async () => {
    for (const bucket of ['archive', 'frames', 'payroll']) await client.put(bucket, 'a.jpg', bytes(bucket));
    const read = async (s3SourceBuckets: string[]) => {
      const sources = sourcesOnly(client, { s3FrameBucket: 'frames', s3SourceBuckets });
      const reading = ['archive', 'frames', 'payroll'].map((bucket) => sources.get(bucket, 'a.jpg'));
      const settled = await Promise.allSettled(reading);
      return settled.map((s) => (s.status === 'rejected' ? s.reason.code : Buffer.from(s.value ?? []).toString()));
    };
    expect(await read([])).toEqual(['archive', 'url-refused', 'payroll']);
    expect(await read(['archive', 'frames'])).toEqual(['archive', 'url-refused', 'url-refused']);
  });

  const listed = async () => {
    for await (const _ of client.list('bucket', 'day/'));
  };
  it.each([
    [404, 'NoSuchBucket', 'url-failed', 'S3_ENDPOINT has no such bucket'],
    [403, 'AccessDenied', 'url-failed', 'S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are wrong, or may not do it'],
    [403, 'SignatureDoesNotMatch', 'url-failed', 'S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are wrong'],
    [301, 'PermanentRedirect', 'url-failed', 'expected the S3_ENDPOINT and S3_REGION of the bucket'],
    [400, 'AuthorizationHeaderMalformed', 'url-failed', 'expected the S3_ENDPOINT and S3_REGION of the bucket'],
    [503, 'SlowDown', 'url-unavailable', 'S3_ENDPOINT has a fault'],
  ])('that answers %i %s names the bucket, the endpoint and the mend', async (status, code, expected, mend) => {
    s3.failWith(status, code);
    const calls = [
      ['day/x', 'read', () => client.get('bucket', 'day/x')],
      ['day/x', 'read', () => client.getPart('bucket', 'day/x', { from: 0, length: 1 })],
      ['day/', 'listed', listed],
    ] as const;
    for (const [key, task, call] of calls) {
      const message = `s3://bucket/${key} at ${s3.endpoint} cannot be ${task} (${status} ${code}): ${mend}`;
      await expect(call()).rejects.toMatchObject({ code: expected, message: expect.stringContaining(message) });
    }
    // A refusal of its own bucket is no fault of a frame or a client.
    const store = createS3BlobStore(client, 'bucket');
    for (const call of [
      () => store.get(a),
      () => store.put(a, bytes('x')),
      () => store.delete(a),
      () => store.sweep('frames', 0),
    ]) {
      const message = expect.stringContaining(mend);
      await expect(call()).rejects.toMatchObject({ code: 'storage-unavailable', message });
    }
  });

  it('that is away is named', async () => {
    const { endpoint } = s3;
    await s3.stop();
    const message = `s3://bucket/x at ${endpoint} cannot be read: S3_ENDPOINT cannot be reached`;
    await expect(client.get('bucket', 'x')).rejects.toMatchObject({ code: 'url-unavailable', message });
    s3 = await startS3(Number(new URL(endpoint).port));
  });

  it('without the object or with an old code of it has none', async () => {
    for (const code of ['NoSuchKey', undefined]) {
      s3.failWith(404, code);
      expect(await client.get('bucket', 'x')).toBeUndefined();
      await expect(listed()).rejects.toMatchObject({ code: 'url-failed' });
    }
  });

  it('needs its credentials', () => {
    const config = {
      s3Endpoint: 'http://s3',
      s3Region: '',
      s3AccessKeyId: null,
      s3SecretAccessKey: null,
      outboundTimeoutMs: 1,
    };
    expect(() => createS3Client(config)).toThrow(/expected S3_ACCESS_KEY_ID/);
    expect(createS3Client({ ...config, s3Endpoint: null })).toBeUndefined();
  });
});
