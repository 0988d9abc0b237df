/** Room on the disk of the data folder, by bytes and by inodes. */
import { tmpdir } from 'node:os';
import { DiskGuard } from '../../scripts/lib/disk-guard.mjs';
import { diskShortage } from '../../src/stores/blobs/disk.js';

const GiB = 2 ** 30;
const ROOMY = { bsize: 1, bavail: GiB, files: 1_000, ffree: 900 };
const diskWith = (values: Partial<typeof ROOMY>) => ({ ...ROOMY, ...values });

describe('The disk', () => {
  it.each([
    ['has room', {}, null],
    ['has no space', { bavail: 1_000 }, 'space'],
    ['has no inodes', { ffree: 3 }, 'inodes'],
    ['makes inodes as it needs them', { files: 0, ffree: 0 }, null],
  ])('%s', async (_what, values, expected) => {
    expect(await diskShortage('/', async () => diskWith(values))).toBe(expected);
  });

  it('that cannot be read is not full', async () => {
    expect(await diskShortage('/nowhere', () => Promise.reject(new Error('ENOENT')))).toBeNull();
  });

  it('that has no inodes lets the guard keep Redis from writing', () => {
    const reports: string[] = [];
    const guardOf = (values: Partial<typeof ROOMY>) =>
      new DiskGuard({
        dataDir: tmpdir(),
        socket: '',
        report: (state: string) => reports.push(state),
        statfs: (() => diskWith(values)) as never,
      });
    expect(guardOf({ ffree: 3 }).redisArguments()).toEqual(['--maxmemory', '1']);
    expect(reports).toEqual(['full (1024 MiB and 3 inodes free): nothing is stored until there is space']);
    expect(guardOf({ files: 0, ffree: 0 }).redisArguments()).toEqual([]);
  });
});
