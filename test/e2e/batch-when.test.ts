/** Batches of mode when through the built processes: places, privacy zones, cancelling, and a worker that is killed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { THING, writeVideo } from '../footage/videos.js';
import type { Block } from '../frames/pictures.js';
import { brightest } from '../helpers/brightest.js';
import { eventually } from '../helpers/eventually.js';
import { useService } from '../helpers/service.js';

const used = useService();
const LIMIT_MS = 300_000;
/** Bright things in places that zones hide. */
const SECRETS: readonly Block[] = [
  { x: 2, y: 4, width: 14, height: 20, colour: [255, 200, 255] },
  { x: 40, y: 56, width: 40, height: 8, colour: [255, 200, 255] },
];
const LEFT = { x: 0, y: 0, width: 0.2, height: 1 };
const BOTTOM = { x: 0, y: 0.85, width: 1, height: 0.15 };
const zoneOf = (id: string, { x, y, width, height }: typeof LEFT) => ({
  ...{ id, type: 'privacy' },
  polygon: [
    [x, y],
    [x + width, y],
    [x + width, y + height],
    [x, y + height],
  ],
});
/** A triangle around the thing, which is at 0.67 to 0.83 and 0.25 to 0.5. */
const TRIANGLE = [
  [0.55, 0.2],
  [0.95, 0.2],
  [0.75, 0.8],
];

const ask = async (method: string, path: string, body?: FormData | object) => {
  const isForm = body instanceof FormData;
  const response = await fetch(`${used.service.url}${path}`, {
    method,
    headers: {
      ...used.service.headers,
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = (response.headers.get('content-type') ?? '').includes('json');
  return { status: response.status, bytes, body: isJson ? JSON.parse(bytes.toString()) : undefined };
};

let film: Uint8Array<ArrayBuffer>;
/** Three minutes of which the second shows a thing. */
beforeAll(async () => {
  const path = join(used.service.dataDir, 'film.mp4');
  await writeVideo(path, [
    { frames: 240, blocks: SECRETS },
    { frames: 240, blocks: [THING, ...SECRETS] },
    { frames: 240, blocks: SECRETS },
  ]);
  film = new Uint8Array(await readFile(path));
}, LIMIT_MS);

const START = Date.UTC(2026, 5, 1, 12);
async function post(camera: string, request: object): Promise<string> {
  const form = new FormData();
  const fixed = { mode: 'when', polygon: TRIANGLE, covered_s: 2, every: '250ms', start: new Date(START).toISOString() };
  form.append('request', JSON.stringify({ ...fixed, camera, ...request }));
  form.append('footage', new Blob([film]), 'film.mp4');
  const { status, body } = await ask('POST', '/v1/batches', form);
  expect([status, body.mode]).toEqual([202, 'mode' in request ? request.mode : 'when']);
  return body.id;
}
const read = async (id: string) => (await ask('GET', `/v1/batches/${id}`)).body;
const results = async (id: string) => (await ask('GET', `/v1/batches/${id}/results?format=json`)).body;
const completed = (id: string) =>
  eventually(async () => expect(await read(id)).toMatchObject({ status: 'completed', error: null }), LIMIT_MS);
/** Waits until the search has looked at some frames. */
const searching = (id: string) =>
  eventually(async () => {
    const { status, frames } = await read(id);
    expect([status, frames > 0]).toEqual(['running', true]);
  }, LIMIT_MS);

it(
  'finds both moments at a place that a polygon names',
  async () => {
    const id = await post('yard', {});
    await completed(id);
    const found = await results(id);
    expect(found).toMatchObject({
      polygon: TRIANGLE,
      changed: {
        before: { seconds: 59.75 },
        after: { seconds: 60, at: new Date(START + 60_000).toISOString() },
        exact: true,
        change: { kind: 'appear', caption: 'A green thing has appeared on the right.' },
      },
      changed_back: { before: { seconds: 119.75 }, after: { seconds: 120 }, exact: true },
    });
    const elsewhere = await post('yard', {
      polygon: [
        [0.3, 0.2],
        [0.6, 0.2],
        [0.3, 0.7],
      ],
    });
    await completed(elsewhere);
    expect(await results(elsewhere)).toMatchObject({ changed: null, changed_back: null });
  },
  LIMIT_MS,
);

it(
  'shows pictures that are black in the privacy zones of the request and of the camera of the service',
  async () => {
    const put = await ask('PUT', '/v1/cameras/masked', { zones: [zoneOf('bottom', BOTTOM)] });
    expect(put.status).toBe(201);
    const settings = { zones: [zoneOf('left', LEFT)] };
    const search = await post('masked', { settings });
    const changes = await post('masked', {
      settings,
      mode: 'changes',
      polygon: undefined,
      covered_s: undefined,
      every: '1s',
    });
    await Promise.all([completed(search), completed(changes)]);
    const { changed, changed_back } = await results(search);
    const [change] = (await results(changes)).changes;
    const paths = [changed, changed_back, change].flatMap(({ pictures }) => [pictures.before, pictures.after]);
    expect(paths).toHaveLength(6);
    for (const [i, path] of paths.entries()) {
      const { status, bytes } = await ask('GET', `/v1/batches/${i < 4 ? search : changes}/${path}`);
      expect(status).toBe(200);
      for (const part of [LEFT, BOTTOM]) expect(await brightest(bytes, part)).toBeLessThan(10);
      expect(await brightest(bytes, { x: 0.6, y: 0.1, width: 0.3, height: 0.4 })).toBeGreaterThan(30);
    }
    const { cameras } = await read(changes);
    expect(Object.keys(cameras[0])).not.toContain('privacy');
    const [{ settings: applied }] = (await results(changes)).summary.cameras;
    expect(applied.zones.map(({ id }: { id: string }) => id)).toEqual(['left', 'bottom']);
    const hidden = await post('masked', { polygon: undefined, roi: { x: 0.5, y: 0.9, width: 0.1, height: 0.05 } });
    await eventually(async () => {
      const { status, error } = await read(hidden);
      expect([status, error?.detail]).toEqual(['failed', expect.stringContaining('lies in a privacy zone')]);
    }, LIMIT_MS);
  },
  LIMIT_MS,
);

it(
  'ends when it is cancelled, without results, and finds the same when it goes on',
  async () => {
    const calm = await post('yard', {});
    await completed(calm);
    const id = await post('yard', {});
    await searching(id);
    expect((await ask('POST', `/v1/batches/${id}/cancel`)).body).toMatchObject({ status: 'cancelled' });
    expect((await ask('GET', `/v1/batches/${id}/results`)).status).toBe(410);
    // A worker may still hold the step that it ends.
    await eventually(async () => expect((await ask('POST', `/v1/batches/${id}/retry`)).status).toBe(200), LIMIT_MS);
    await completed(id);
    expect(await results(id)).toEqual(await results(calm));
  },
  LIMIT_MS,
);

it(
  'finds the same after its worker was killed in the middle',
  async () => {
    const calm = await post('yard', {});
    await completed(calm);
    const id = await post('yard', {});
    await searching(id);
    const { worker } = await used.service.processes();
    process.kill(worker, 'SIGKILL');
    expect(await read(id)).toMatchObject({ status: 'running' });
    await completed(id);
    expect(await results(id)).toEqual(await results(calm));
    expect(await read(id)).toMatchObject({ progress: 1, changes: 2, failures: 0 });
  },
  2 * LIMIT_MS,
);
