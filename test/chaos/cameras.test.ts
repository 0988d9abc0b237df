/** SIGKILL of the worker during a camera's turn: the same frames give the same changes. */
import { eventually } from '../helpers/eventually.js';
import { startReceiver } from '../helpers/receiver.js';
import { sceneJpeg } from '../helpers/scenes.js';
import { finished, isAlive, useService } from '../helpers/service.js';

const used = useService();
/** Time for the replacement and warm-up of a killed worker, and for the detection of its stalled job. */
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
/** Changes of a camera without its name and the ids computed from it. */
const changesOf = async (camera: string) => {
  const { body } = await ask('GET', `/v1/changes?camera=${camera}`);
  return body.items.map(({ id, camera: _name, comparisons, ...rest }: Record<string, unknown>) => rest);
};

it('after SIGKILL of a worker during a turn the frame is processed again, and everything is stored once', async () => {
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
      const frame = camera === 'killed' && i === stalledAt ? `${source.url}/frame.jpg` : frames[i]?.toString('base64');
      const { status, body } = await ask('POST', `/v1/cameras/${camera}/frames`, {
        frame,
        captured_at: iso(i),
      });
      expect(status).toBe(202);
      ids[camera]?.push(body.id);
    };
    for (let i = 0; i < frames.length; i++) await send('calm', i);
    for (const id of ids.calm ?? []) expect(await finished(used.service, id)).toMatchObject({ status: 'finished' });

    for (let i = 0; i < frames.length; i++) await send('killed', i);
    await firstAsked;
    stalled = false;
    const { worker } = await used.service.processes();
    process.kill(worker, 'SIGKILL');
    await eventually(async () => expect(isAlive((await used.service.processes()).worker)).toBe(true));
    const ended = await Promise.all((ids.killed ?? []).map((id) => finished(used.service, id, LIMIT_MS)));
    expect(ended.map(({ status }) => status)).toEqual(frames.map(() => 'finished'));

    const expected = await changesOf('calm');
    expect(expected.length).toBeGreaterThan(0);
    expect(await changesOf('killed')).toEqual(expected);
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

it('an erased camera leaves no comparison and no change', async () => {
  const { status } = await fetch(`${used.service.url}/v1/cameras/calm`, {
    method: 'DELETE',
    headers: used.service.headers,
  });
  expect(status).toBe(204);
  expect((await ask('GET', '/v1/cameras/calm')).status).toBe(404);
  expect((await ask('GET', '/v1/comparisons?camera=calm')).body.items).toEqual([]);
  expect(await changesOf('calm')).toEqual([]);
  expect((await changesOf('killed')).length).toBeGreaterThan(0);
}, 60_000);
