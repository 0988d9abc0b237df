/** A camera with an RTSP address, from its settings to its frames: no answer, log or process list shows its login. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { eventually } from '../helpers/eventually.js';
import { wrapFfmpeg } from '../helpers/ffmpeg-wrapper.js';
import { type RtspCamera, startRtspCamera } from '../helpers/rtsp-camera.js';
import { answerOf, get, logsOf, type Service, startService } from '../helpers/service.js';

jest.setTimeout(240_000);
const LIMIT_MS = 60_000;
const LOGIN = { username: 'watchman', password: 'geheim' };
const SECRETS = /watchman|geheim|d2F0Y2htYW4/;

let service: Service;
let ffmpeg: Awaited<ReturnType<typeof wrapFfmpeg>>;
let camera: RtspCamera;
beforeAll(async () => {
  ffmpeg = await wrapFfmpeg();
  camera = await startRtspCamera({ login: { ...LOGIN, schemes: ['digest-sha256', 'basic'] } });
  // The last test waits for the shutdown.
  const times = { OUTBOUND_TIMEOUT_MS: '60000', SHUTDOWN_MS: '4000' };
  service = await startService({ env: { FFMPEG: ffmpeg.program, ...times, LOG_LEVEL: 'trace' } });
});
afterAll(async () => {
  await service?.stop();
  await camera?.close();
});

const put = async (settings: object) =>
  answerOf(
    await fetch(`${service.url}/v1/cameras/gate`, {
      method: 'PUT',
      headers: { ...service.headers, 'content-type': 'application/json' },
      body: JSON.stringify(settings),
    }),
  );
const snapshotStatus = async () => (await get(service, '/v1/cameras/gate')).body.status.snapshot;

it('delivers frames, and its login is seen nowhere', async () => {
  const url = camera.url.replace('//', `//${LOGIN.username}:${LOGIN.password}@`);
  const answer = await put({ snapshot: { url, interval_s: 1 } });
  expect(answer.status).toBe(201);
  await eventually(async () => {
    const { body } = await get(service, '/v1/comparisons?camera=gate');
    expect(body.items.filter(({ status }: { status: string }) => status === 'finished').length).toBeGreaterThan(1);
  }, LIMIT_MS);
  expect(await snapshotStatus()).toMatchObject({ error: null });

  const { body } = await get(service, '/v1/cameras/gate');
  expect(body.snapshot.url).toBe(camera.url);
  const log = ['api', 'worker', 'redis'].map((name) => readFileSync(join(service.dataDir, `logs/${name}.log`), 'utf8'));
  const seen = [JSON.stringify([answer.body, body]), ...log, await ffmpeg.arguments(), await ffmpeg.environment()];
  for (const text of seen) expect(text).not.toMatch(SECRETS);
});

it('with a wrong password reports the reason, without it', async () => {
  await put({ snapshot: { url: camera.url, interval_s: 1, username: LOGIN.username, password: 'geheim-2' } });
  await eventually(async () => {
    const { error } = await snapshotStatus();
    expect(error).toBe(
      `url-failed: ${camera.url} refused the user name or the password (401); it is asked again after five minutes`,
    );
  }, LIMIT_MS);
  expect(logsOf(service.dataDir)).not.toMatch(SECRETS);
});

it('that sends nothing does not keep the service from stopping, and ffmpeg ends with it', async () => {
  const silent = await startRtspCamera({ video: 'none' });
  await put({ snapshot: { url: silent.url, interval_s: 1, username: '' } });
  await eventually(() => expect(silent.requests.map(({ method }) => method)).toContain('PLAY'), LIMIT_MS);
  await service.stop();
  await ffmpeg.gone();
  await silent.close();
});
