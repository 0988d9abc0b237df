/** Objects of S3 as inputs: listed by prefix, copied in parts while they are read, and removed again. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listFiles } from '../../src/footage/inputs/list-files.js';
import { localFiles } from '../../src/footage/inputs/local-files.js';
import { createS3Client } from '../../src/stores/blobs/s3-client.js';
import { startS3, type TestS3 } from '../helpers/s3.js';

let server: TestS3;
let folder: string;
beforeAll(async () => {
  server = await startS3();
  folder = await mkdtemp(join(tmpdir(), 'sd-s3-items-'));
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const client = () =>
  createS3Client({
    s3Endpoint: server.endpoint,
    s3Region: 'us-east-1',
    s3AccessKeyId: server.accessKeyId,
    s3SecretAccessKey: server.secretAccessKey,
    outboundTimeoutMs: 5_000,
  });

describe('s3:// prefixes', () => {
  it('lists videos and pictures, and copies an object of several parts', async () => {
    const bytes = Buffer.alloc(9 * 1024 * 1024, 'footage');
    for (const key of ['yard/12.mp4', 'yard/13.jpg', 'yard/notes.txt', 'gate/12.mp4']) {
      server.objects.set(`archive/${key}`, { bytes, lastModified: Date.UTC(2026, 5, 1) });
    }
    const s3 = client();
    const found = [];
    for await (const file of listFiles('s3://archive/yard/', { outputs: folder, s3 })) found.push(file);
    expect(found.map(({ kind, file, modifiedAt }) => [kind, file, modifiedAt])).toEqual([
      ['video', 's3://archive/yard/12.mp4', Date.UTC(2026, 5, 1)],
      ['image', 's3://archive/yard/13.jpg', Date.UTC(2026, 5, 1)],
    ]);

    const copies = join(folder, 'copies');
    const item = { ...(found[0] as (typeof found)[0]), at: 0 };
    const { signal } = new AbortController();
    const local = await localFiles(copies, s3)(item, signal);
    expect((await readFile(local.path)).equals(bytes)).toBe(true);
    await local.release();
    expect(await readdir(copies)).toEqual([]);

    const gone = { ...item, location: { from: 's3' as const, bucket: 'archive', key: 'yard/14.mp4' } };
    await expect(localFiles(copies, s3)(gone, signal)).rejects.toThrow('s3://archive/yard/14.mp4 does not exist');
    expect(await readdir(copies)).toEqual([]);
    await s3?.close();
  });

  it('needs the S3 settings', async () => {
    const listing = listFiles('s3://archive/yard', { outputs: folder, s3: undefined });
    await expect(listing.next()).rejects.toThrow('s3://archive/yard: expected S3_ENDPOINT to be set');
  });
});
