/** `scenedelta onvif`: the list of cameras, and their set-up in a service. */
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { fakeApp } from '../../helpers/fake-app.js';
import { probeMatch, startOnvifCamera, startResponder } from '../../helpers/onvif-camera.js';

jest.setTimeout(60_000);
const LOGIN = { username: 'viewer', password: 'geheim' };

let service: Awaited<ReturnType<typeof fakeApp>>;
let url: string;
let camera: Awaited<ReturnType<typeof startOnvifCamera>>;
let responder: Awaited<ReturnType<typeof startResponder>>;
beforeAll(async () => {
  service = await fakeApp({ outboundAllow: ['127.0.0.0/8'] });
  url = await service.app.listen({ host: '127.0.0.1', port: 0 });
  camera = await startOnvifCamera({ login: LOGIN, clock: Date.now() });
  const xaddrs = camera.address;
  const unnamed = 'onvif://www.onvif.org/name/%1b%5b31m';
  responder = await startResponder((id) => [
    probeMatch(id, { key: 'urn:uuid:1', xaddrs }),
    probeMatch(id, { key: 'urn:uuid:2', xaddrs: 'http://127.0.0.1:9/', scopes: unnamed }),
  ]);
});
afterAll(async () => {
  await responder.close();
  await camera.close();
  await service.app.close();
});

const run = (...args: string[]) =>
  new Promise<{ status: number; out: string[]; said: string }>((done) => {
    const env = { ...process.env, DATA_DIR: tmpdir(), ONVIF_PASSWORD: LOGIN.password };
    const all = [resolve('dist/cli/main.js'), 'onvif', '--interface', 'lo', '--api', url, ...args];
    execFile(process.execPath, all, { env }, (error, stdout, stderr) => {
      done({ status: Number(error?.code ?? 0), out: stdout.trimEnd().split('\n'), said: stderr });
    });
  });
const host = () => new URL(camera.url).host;

it('lists the cameras with the addresses that they give, or why they give none', async () => {
  const { status, out } = await run('--username', LOGIN.username);
  expect(status).toBe(0);
  expect(out).toEqual([
    expect.stringMatching(/^CAMERA +MODEL +PLACE +HOST +PICTURES$/),
    expect.stringMatching(/^127\.0\.0\.1 .*could not be reached/),
    expect.stringMatching(
      new RegExp(
        `^Gate-north  IPC-42  country/x, Yard  ${host()}  http://127.0.0.1/snap\\S+  rtsp://127.0.0.1:554/live$`,
      ),
    ),
  ]);
});

it('says what a camera without its login answers, as JSON', async () => {
  const { status, out } = await run('--json');
  expect(status).toBe(0);
  expect(JSON.parse(out.join('\n'))).toContainEqual({
    id: 'Gate-north',
    name: 'Gate north',
    model: 'IPC-42',
    place: 'country/x, Yard',
    service: camera.address,
    picture: null,
    stream: null,
    problem: `${camera.address} answered 400: Sender not Authorized`,
    outcome: null,
  });
});

it('sets up the cameras that the service lacks, with the login, and says which it could not', async () => {
  const first = await run('--add', '--stream', '--username', LOGIN.username, '--label', 'north', '--every', '5');
  expect(first.out.join('\n')).toMatch(/Gate-north .* set up$/m);
  expect(first).toMatchObject({ status: 1, said: 'scenedelta onvif: 1 of 2 cameras were not set up\n' });
  expect(service.cameras.kept.get('Gate-north')?.settings).toMatchObject({
    name: 'Gate north',
    labels: ['north'],
    snapshot: { url: 'rtsp://127.0.0.1:554/live', interval_s: 5 },
  });
  expect(service.cameras.kept.get('Gate-north')?.login).toBeDefined();
  const again = await run('--add', '--username', LOGIN.username);
  expect(again.out.join('\n')).toMatch(/Gate-north .* is there already$/m);
});

it('takes the cameras of one host alone, and says that none answered', async () => {
  const { status, out, said } = await run('--host', '192.0.2.1', '--json');
  expect([status, out, said]).toEqual([0, ['[]'], 'no camera answered at 127.0.0.1\n']);
});

it.each([
  [['--interface', 'nowhere0'], '--interface nowhere0: expected one of '],
  [['--add', '--every', 'often'], '--every often: expected whole seconds'],
])('refuses %j', async (args, message) => {
  expect(await run(...args)).toMatchObject({ status: 2, said: expect.stringContaining(message) });
});
