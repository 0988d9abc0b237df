/** `scenedelta import`: cameras in configurations of recorders, and their set-up in a service. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, jest } from '@jest/globals';
import { recorderCameras } from '../../clients/src/import/recorder-cameras.js';
import { startReceiver } from '../helpers/receiver.js';

jest.setTimeout(60_000);
const FRIGATE = `
mqtt: { enabled: false }
go2rtc:
  streams:
    back: ["ffmpeg:rtsp://viewer:s%40fe@192.168.1.21/ch1#video=h264", "exec:ffmpeg -i x"]
    hall: homekit://192.168.1.30
cameras:
  front door:
    ffmpeg:
      inputs:
        - { path: "rtsp://192.168.1.20/main", roles: [record] }
        - { path: "rtsp://{FRIGATE_RTSP_USER}:{FRIGATE_RTSP_PASSWORD}@192.168.1.20/sub", roles: [detect] }
  back:
    ffmpeg: { inputs: [{ path: "rtsp://127.0.0.1:8554/back?mp4", roles: [detect, record] }] }
  hall:
    ffmpeg: { inputs: [{ path: "rtsp://127.0.0.1:8554/hall", roles: [detect] }] }
  empty: {}
`;

describe('The cameras of a recorder', () => {
  it('of Frigate have the input for detection, its login apart, and the streams behind its own go2rtc', () => {
    const variables = { FRIGATE_RTSP_USER: 'viewer', FRIGATE_RTSP_PASSWORD: 'a/b:c' };
    const none = 'it has no address that is http(s) or rtsp(s)';
    expect(recorderCameras(FRIGATE, variables)).toEqual([
      {
        ...{ id: 'front-door', name: 'front door', url: 'rtsp://192.168.1.20/sub' },
        login: { username: 'viewer', password: 'a/b:c' },
      },
      { id: 'back', name: 'back', url: 'rtsp://192.168.1.21/ch1', login: { username: 'viewer', password: 's@fe' } },
      { id: 'hall', name: 'hall', reason: none },
      { id: 'empty', name: 'empty', reason: none },
    ]);
  });

  it('of go2rtc have the first address that the service can read', () => {
    const text =
      'streams:\n  yard:\n    - onvif://192.168.1.40\n    - http://192.168.1.40/snap.jpg\n  gate: rtsp://10.0.0.9/1\n';
    expect(recorderCameras(text, {})).toEqual([
      { id: 'yard', name: 'yard', url: 'http://192.168.1.40/snap.jpg', login: {} },
      { id: 'gate', name: 'gate', url: 'rtsp://10.0.0.9/1', login: {} },
    ]);
  });

  it('lack a login if the environment lacks its placeholder', () => {
    expect(recorderCameras(FRIGATE, { FRIGATE_RTSP_USER: 'viewer' })[0]).toMatchObject({
      reason: 'the environment lacks FRIGATE_RTSP_PASSWORD',
    });
  });

  it.each([
    ['cameras: {', 'The file is no YAML'],
    ['mqtt: {}', 'The file has no cameras'],
    ['- a\n- b', 'The file has no cameras'],
  ])('of %j are refused', (text, message) => {
    expect(() => recorderCameras(text, {})).toThrow(message);
  });
});

it('sets up the cameras that the service lacks, and names those that it leaves out', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sd-import-'));
  const service = await startReceiver(({ method, path }, response) => {
    response.statusCode = method === 'PUT' ? 201 : path.endsWith('/back') ? 200 : 404;
    response.end('{}');
  });
  const file = join(folder, 'config.yml');
  await writeFile(file, FRIGATE);
  const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
  const login = { FRIGATE_RTSP_USER: 'viewer', FRIGATE_RTSP_PASSWORD: 'geheim' };
  const env = { ...process.env, ...login, DATA_DIR: folder };
  const args = [main, 'import', file, '--api', service.url, '--label', 'north', '--every', '5'];
  const printed = await new Promise<string[]>((resolve) =>
    execFile(process.execPath, args, { env }, (_error, stdout, stderr) => resolve([stdout, stderr])),
  );
  expect(printed[0]?.trim().split('\n')).toEqual([
    'front-door  rtsp://192.168.1.20/sub  set up',
    'back  rtsp://192.168.1.21/ch1  is there already',
    'hall  left out: it has no address that is http(s) or rtsp(s)',
    'empty  left out: it has no address that is http(s) or rtsp(s)',
  ]);
  expect(printed[1]).toContain('2 of 4 cameras were not set up');
  const puts = service.received.filter(({ method }) => method === 'PUT');
  expect(puts.map(({ path }) => path)).toEqual(['/v1/cameras/front-door']);
  expect(JSON.parse(String(puts[0]?.body))).toEqual({
    ...{ name: 'front door', labels: ['north'], preset: 'everything' },
    snapshot: { url: 'rtsp://192.168.1.20/sub', interval_s: 5, username: 'viewer', password: 'geheim' },
  });
  await service.close();
  await rm(folder, { recursive: true });
});
