/** `scenedelta watch` against a service of its own: which pictures it sends, when, and what becomes of the files. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { openFolder } from '../../src/cli/watch/folder.js';
import { type Received, type Receiver, startReceiver } from '../helpers/receiver.js';

jest.setTimeout(120_000);

const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
let folder: string;
let service: Receiver;
/** Status of the answer to a request; 202 unless a test says otherwise. */
let statusOf: (request: Received, count: number) => number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sd-watch-'));
  statusOf = () => 202;
  service = await startReceiver((request, response) => {
    response.statusCode = statusOf(request, service.received.length);
    response.end('{"detail":"because"}');
  });
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

async function put(...names: string[]) {
  for (const name of names) {
    await mkdir(dirname(join(folder, 'in', name)), { recursive: true });
    await writeFile(join(folder, 'in', name), `picture ${name}`);
  }
}

const watch = (...options: string[]) =>
  new Promise<{ code: number; account: string | undefined; stderr: string }>((resolve) => {
    const args = [main, 'watch', join(folder, 'in'), '--api', service.url, '--once', '--tz', 'UTC'];
    const timing = ['--settle', '1ms', '--interval', '10ms'];
    const env = { ...process.env, DATA_DIR: folder };
    execFile(process.execPath, [...args, ...timing, ...options], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), account: stdout.trim().split('\n').at(-1), stderr }),
    );
  });

const framesOf = (camera: string) =>
  service.received
    .filter(({ method, path }) => method === 'POST' && path.startsWith(`/v1/cameras/${camera}/frames?`))
    .map(({ path }) => new URL(path, service.url).searchParams.get('captured_at'));
const filesIn = async (path: string) =>
  (await readdir(join(folder, path), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();

describe('pictures in a folder', () => {
  it('of two cameras are sent with the times of their names, each camera its oldest first, and moved', async () => {
    await put(
      'front/20150619/front_20150619045513179_TIMING.jpg',
      'front/20150619/front_20150619045313183_TIMING.jpg',
      'yard_01_20261124101630.jpg',
      'yard_01_20261124101530.jpg',
    );
    const { code, account } = await watch('--move', join(folder, 'done'));
    expect([code, account]).toEqual([0, '4 pictures in = 4 sent + 0 refused + 0 without a camera or a time']);
    expect(framesOf('front')).toEqual(['2015-06-19T04:53:13.183Z', '2015-06-19T04:55:13.179Z']);
    expect(framesOf('yard_01')).toEqual(['2026-11-24T10:15:30.000Z', '2026-11-24T10:16:30.000Z']);
    expect(await filesIn('in')).toEqual([]);
    expect(await filesIn('done')).toHaveLength(4);
  });

  it('have names that are not UTF-8: they are named and counted, and the others are sent', async () => {
    await put('gate_20261124101530.jpg');
    await writeFile(Buffer.from(join(folder, 'in', 'caf\xe9_20261124101630.jpg'), 'latin1'), 'picture');
    const { code, account, stderr } = await watch('--camera', 'gate');
    expect([code, account]).toEqual([0, '2 pictures in = 1 sent + 0 refused + 1 without a camera or a time']);
    expect(stderr).toContain('the name is not UTF-8: expected to rename it');
  });

  it('that are left are not sent again by the next run, which sends the new ones', async () => {
    await put('gate_20261124101530.jpg');
    await watch('--camera', 'gate');
    await put('gate_20261124101630.jpg');
    const { account } = await watch('--camera', 'gate');
    expect(account).toBe('1 picture in = 1 sent + 0 refused + 0 without a camera or a time');
    expect(framesOf('gate')).toEqual(['2026-11-24T10:15:30.000Z', '2026-11-24T10:16:30.000Z']);
  });

  it('are deleted if that is asked for; videos and other files are left alone', async () => {
    await put('gate_20261124101530.jpg', 'gate_20261124101530.mp4', 'gate.tmp');
    const { stderr } = await watch('--delete');
    expect(await filesIn('in')).toEqual(['gate.tmp', 'gate_20261124101530.mp4']);
    expect(stderr).toContain('scenedelta footage reads them');
  });

  it('are complete once they have not altered for the time to settle', async () => {
    await put('gate_20261124101530.jpg');
    const written = (await stat(join(folder, 'in/gate_20261124101530.jpg'))).ctimeMs;
    const watched = await openFolder(join(folder, 'in'), null);
    expect(await watched.look(written + 4_000, 5_000)).toMatchObject({ complete: [], growing: 1 });
    expect(await watched.look(written + 5_000, 5_000)).toMatchObject({ complete: [{ kind: 'image' }], growing: 0 });
  });

  it('that cannot be placed are set aside, and counted, until they alter', async () => {
    await put('gate.jpg', 'yard.jpg');
    const watched = await openFolder(join(folder, 'in'), null);
    const later = Date.now() + 60_000;
    const look = async () => {
      const { complete, left } = await watched.look(later, 1);
      return [complete.map(({ file }) => file.split('/').at(-1)).sort(), left];
    };
    expect(await look()).toEqual([['gate.jpg', 'yard.jpg'], 0]);
    watched.setAside(join(folder, 'in/gate.jpg'));
    expect([await look(), await look()]).toEqual([
      [['yard.jpg'], 1],
      [['yard.jpg'], 1],
    ]);
    await writeFile(join(folder, 'in/gate.jpg'), 'another picture');
    expect(await look()).toEqual([['gate.jpg', 'yard.jpg'], 0]);
  });
});

describe('a service that', () => {
  it('has too much to do gets the picture again, with the same key', async () => {
    await put('gate_20261124101530.jpg');
    statusOf = (_request, count) => (count === 1 ? 503 : 202);
    const { account } = await watch();
    expect(account).toContain('1 sent');
    const keys = service.received.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
  });

  it('refuses a picture is asked once: the picture is named, counted and done', async () => {
    await put('gate_20261124101530.jpg', 'gate_20261124101630.jpg');
    statusOf = (_request, count) => (count === 1 ? 422 : 202);
    const { account, stderr } = await watch('--move', join(folder, 'done'));
    expect(account).toBe('2 pictures in = 1 sent + 1 refused + 0 without a camera or a time');
    expect(stderr).toContain('gate_20261124101530.jpg refused');
    expect(await filesIn('done')).toHaveLength(2);
  });

  it('refuses a picture whose name holds codes for a terminal: they are not printed', async () => {
    await put('\x1b[31m_20261124101530.jpg');
    statusOf = () => 422;
    const { stderr } = await watch('--camera', 'gate');
    expect(stderr).not.toContain('\x1b');
    expect(stderr).toContain('\ufffd[31m_20261124101530.jpg refused');
  });

  it('does not know the camera makes it first', async () => {
    await put('gate_20261124101530.jpg');
    statusOf = ({ method }, count) => (method === 'PUT' ? 201 : count === 1 ? 404 : 202);
    expect((await watch()).account).toContain('1 sent');
    expect(service.received.map(({ method }) => method)).toEqual(['POST', 'PUT', 'POST']);
  });

  it('refuses the key ends the command, and nothing is moved', async () => {
    await put('gate_20261124101530.jpg');
    statusOf = () => 401;
    const { code, stderr } = await watch('--move', join(folder, 'done'));
    expect([code, stderr]).toEqual([1, expect.stringContaining('answered 401')]);
    expect(await filesIn('in')).toHaveLength(1);
  });
});
