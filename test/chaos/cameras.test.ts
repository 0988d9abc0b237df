/** kill -9 of the worker in the middle of a camera's turn: the same changes come of the same frames. */
import { eventually } from '../helpers/eventually.js';
import { startReceiver } from '../helpers/receiver.js';
import { sceneJpeg } from '../helpers/scenes.js';
import { finished, isAlive, useService } from '../helpers/service.js';

const used = useService();
/** A worker that was killed is replaced, warmed up, and its job found stalled: longer than a comparison takes. */
const LIMIT_MS = 120_000;
const T = Date.parse('2026-06-01T12:00:00Z');
const iso = (seconds: number) => new Date(T + seconds * 1000).toISOString();

const ask = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${used.service.url}${path}`, {
    method,
    headers: { ...used.service.headers, 'content-type': 'application/json', prefer: 'respond-async' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
};
/** Without what differs between two cameras: names, and ids that follow from them. */
const storyOf = async (camera: string) => {
  const { body } = await ask('GET', `/v1/changes?camera=${camera}`);
  return body.items.map(({ id, camera: _name, comparisons, ...rest }: Record<string, unknown>) => rest);
};

it('a worker killed in the middle of a turn: the frame is worked on again, and everything is there once', async () => {
  const empty = await sceneJpeg();
  const thing = await sceneJpeg({ object: true });
  const frames = [empty, empty, thing, thing, thing, empty, empty, empty];
  const stalledAt = 3;
  let asked = () => {};
  const firstAsked = new Promise<void>((done) => {
    asked = done;
  });
  let stalled = true;
  const source = await startReceiver((_request, response) => {
    asked();
    if (stalled) return undefined;
    response.setHeader('content-type', 'image/jpeg');
    return response.end(frames[stalledAt]);
  });
  try {
    const ids: Record<string, string[]> = { calm: [], killed: [] };
    for (const camera of ['calm', 'killed']) {
      expect((await ask('PUT', `/v1/cameras/${camera}`, { alerts: { confirm_frames: 2 } })).status).toBe(201);
    }
    const send = async (camera: string, i: number) => {
      const frame =
        camera === 'killed' && i === stalledAt ? `${source.url}/frame.jpg` : frames[i]?.toString('base64');
      const { status, body } = await ask('POST', `/v1/cameras/${camera}/frames`, {
        frame,
        captured_at: iso(i),
      });
      expect(status).toBe(202);
      ids[camera]?.push(body.id);
    };
    for (let i = 0; i < frames.length; i++) await send('calm', i);
    for (const id of ids.calm ?? [])
      expect(await finished(used.service, id)).toMatchObject({ status: 'finished' });

    for (let i = 0; i < frames.length; i++) await send('killed', i);
    await firstAsked;
    stalled = false;
    const { worker } = await used.service.processes();
    process.kill(worker, 'SIGKILL');
    await eventually(async () => expect(isAlive((await used.service.processes()).worker)).toBe(true));
    const ended = await Promise.all((ids.killed ?? []).map((id) => finished(used.service, id, LIMIT_MS)));
    expect(ended.map(({ status }) => status)).toEqual(frames.map(() => 'finished'));

    const story = await storyOf('calm');
    expect(story.length).toBeGreaterThan(0);
    expect(await storyOf('killed')).toEqual(story);
    const { body: camera } = await ask('GET', '/v1/cameras/killed');
    expect(camera.status).toMatchObject({
      frames: frames.length,
      waiting: 0,
      last_frame_at: iso(frames.length - 1),
    });
  } finally {
    await source.close();
  }
}, 240_000);

it('an erased camera is gone with everything of it', async () => {
  const { status } = await fetch(`${used.service.url}/v1/cameras/calm`, {
    method: 'DELETE',
    headers: used.service.headers,
  });
  expect(status).toBe(204);
  expect((await ask('GET', '/v1/cameras/calm')).status).toBe(404);
  expect((await ask('GET', '/v1/comparisons?camera=calm')).body.items).toEqual([]);
  expect(await storyOf('calm')).toEqual([]);
  expect((await storyOf('killed')).length).toBeGreaterThan(0);
}, 60_000);
