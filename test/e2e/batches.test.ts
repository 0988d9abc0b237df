/** Footage through the built processes: an upload in; progress, changes and captions out. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { THING, writeVideo } from '../footage/videos.js';
import { eventually } from '../helpers/eventually.js';
import { ENVIRONMENT, isAlive, useService } from '../helpers/service.js';

const used = useService();
const LIMIT_MS = 300_000;

const ask = async (method: string, path: string, body?: FormData | object, headers: Record<string, string> = {}) => {
  const isForm = body instanceof FormData;
  const response = await fetch(`${used.service.url}${path}`, {
    method,
    headers: {
      ...used.service.headers,
      ...headers,
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  return {
    status: response.status,
    text,
    type,
    isReplay: response.headers.get('idempotent-replayed') === 'true',
    body: type.includes('json;') || type.endsWith('+json') ? JSON.parse(text) : undefined,
  };
};

/** Three minutes of which the second shows a thing. */
async function video(): Promise<Buffer> {
  const path = join(used.service.dataDir, 'yard-2026-06-01T12-00-00.mp4');
  await writeVideo(path, [
    { frames: 240, blocks: [] },
    { frames: 240, blocks: [THING] },
    { frames: 240, blocks: [] },
  ]);
  return readFile(path);
}

async function post(bytes: Buffer, cameras: readonly string[], request: object = {}, key?: string) {
  const form = new FormData();
  form.append('request', JSON.stringify({ template: '{camera}-{t:%Y-%m-%dT%H-%M-%S}.mp4', every: '1s', ...request }));
  for (const camera of cameras) {
    form.append('footage', new Blob([new Uint8Array(bytes)]), `${camera}-2026-06-01T12-00-00.mp4`);
  }
  return ask('POST', '/v1/batches', form, key === undefined ? {} : { 'idempotency-key': key });
}

const completed = async (id: string) => {
  const read = async () => (await ask('GET', `/v1/batches/${id}`)).body;
  await eventually(async () => expect(await read()).toMatchObject({ status: 'completed' }), LIMIT_MS);
  return read();
};
const results = async (id: string, format: string) =>
  (await ask('GET', `/v1/batches/${id}/results?format=${format}`)).text;

describe('uploaded videos', () => {
  let bytes: Buffer;
  beforeAll(async () => {
    bytes = await video();
  }, LIMIT_MS);

  it(
    'give changes with sentences and times, as NDJSON, CSV, WebVTT and a page',
    async () => {
      const { status, body } = await post(bytes, ['yard'], { metadata: { ticket: 7 } }, 'yard 7');
      expect(status).toBe(202);
      const again = await post(bytes, ['yard'], { metadata: { ticket: 7 } }, 'yard 7');
      expect([again.status, again.isReplay, again.body.id]).toEqual([202, true, body.id]);
      const other = await post(bytes.subarray(1), ['yard'], { metadata: { ticket: 7 } }, 'yard 7');
      expect([other.status, other.body.title]).toEqual([422, expect.stringContaining('Idempotency-Key')]);
      expect(body).toMatchObject({ status: 'queued', progress: 0, results: null, metadata: { ticket: 7 } });
      const batch = await completed(body.id);
      expect(batch).toMatchObject({ progress: 1, changes: 1, failures: 0, frames: 180 });
      expect(batch.cameras).toMatchObject([{ camera: 'yard', files: 1, done: true, frames_expected: 180 }]);
      const visits = (await results(body.id, 'visits')).split('\n').filter((line) => line.includes('"kind":"visit"'));
      expect(batch.visits).toBe(visits.length);
      const [change] = (await results(body.id, 'ndjson'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(change).toMatchObject({ camera: 'yard', kind: 'appear' });
      expect(change.first_seen.at).toBe('2026-06-01T12:01:00.000Z');
      expect(change.reverted.at).toBe('2026-06-01T12:02:00.000Z');
      expect(await results(body.id, 'csv')).toContain(change.caption);
      expect(await results(body.id, 'vtt')).toMatch(/^WEBVTT/);
      expect(await results(body.id, 'html')).toContain('<!doctype html>');
      expect((await ask('DELETE', `/v1/batches/${body.id}`)).status).toBe(204);
      expect((await ask('GET', `/v1/batches/${body.id}`)).status).toBe(404);
    },
    LIMIT_MS,
  );

  it(
    'go on after they were cancelled, and show the pictures and captions that their changes name',
    async () => {
      const { body } = await post(bytes, ['yard']);
      expect((await ask('POST', `/v1/batches/${body.id}/retry`)).status).toBe(422);
      expect((await ask('POST', `/v1/batches/${body.id}/cancel`)).body).toMatchObject({ status: 'cancelled' });
      // A worker may still hold a step that it ends.
      await eventually(async () => {
        const { status } = await ask('POST', `/v1/batches/${body.id}/retry`);
        expect(status).toBe(200);
      }, LIMIT_MS);
      expect(await completed(body.id)).toMatchObject({ changes: 1, error: null });
      const { pictures, first_seen } = JSON.parse(await results(body.id, 'ndjson'));
      for (const path of [pictures.before, pictures.after]) {
        expect((await ask('GET', `/v1/batches/${body.id}/${path}`)).status).toBe(200);
      }
      const captions = (file: string) => results(body.id, `vtt&file=${encodeURIComponent(file)}`);
      expect(await captions(first_seen.file)).toMatch(/^WEBVTT/);
      expect(await captions('other.mp4')).toContain('file is other.mp4, expected a video of the batch');
    },
    LIMIT_MS,
  );

  it(
    'give the same bytes after SIGKILL of the worker and of Redis',
    async () => {
      const cameras = ['east', 'west'];
      const calm = await post(bytes, cameras);
      await completed(calm.body.id);
      const killed = await post(bytes, cameras);
      for (const victim of ['worker', 'redis'] as const) {
        await eventually(async () => {
          const { body } = await ask('GET', `/v1/batches/${killed.body.id}`);
          expect(body.status).not.toBe('queued');
        });
        const pids = await used.service.processes();
        process.kill(pids[victim], 'SIGKILL');
        await eventually(async () => {
          const now = await used.service.processes();
          expect(now[victim]).not.toBe(pids[victim]);
          expect(isAlive(now[victim])).toBe(true);
          expect((await ask('GET', '/readyz')).status).toBe(200);
        }, LIMIT_MS);
      }
      await completed(killed.body.id);
      for (const format of ['ndjson', 'csv', 'json', 'html', 'stats']) {
        expect(await results(killed.body.id, format)).toBe(await results(calm.body.id, format));
      }
    },
    2 * LIMIT_MS,
  );
});

it(
  'with mode when, a batch finds the moments at which a place changed and changed back, as the command line does',
  async () => {
    const bytes = await video();
    const roi = { x: 60 / 96, y: 12 / 64, width: 24 / 96, height: 24 / 64 };
    const request = { mode: 'when', roi, covered_s: 2, between: ['10s', '170s'] };
    const { status, body } = await post(bytes, ['yard'], request);
    expect(status).toBe(202);
    const batch = await completed(body.id);
    expect(batch).toMatchObject({ mode: 'when', progress: 1, changes: 2, failures: 0 });
    expect(Object.keys(batch.results)).toEqual(['ndjson', 'json']);
    const found = JSON.parse(await results(body.id, 'json'));
    expect(found).toMatchObject({
      changed: {
        before: { at: '2026-06-01T12:00:59.000Z', seconds: 59 },
        after: { at: '2026-06-01T12:01:00.000Z', seconds: 60 },
        exact: true,
        change: { kind: 'appear', caption: 'A green thing has appeared on the right.' },
      },
      changed_back: { before: { seconds: 119 }, after: { seconds: 120 } },
      frames: 161,
    });
    expect(found.looks).toBeLessThanOrEqual(2 * 2 * Math.log2(161));
    const lines = (await results(body.id, 'ndjson')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).event)).toEqual(['changed', 'changed_back']);
    const picture = await ask('GET', `/v1/batches/${body.id}/${found.changed.pictures.after}`);
    expect([picture.status, picture.type]).toEqual([200, 'image/jpeg']);
    const csv = await ask('GET', `/v1/batches/${body.id}/results?format=csv`);
    expect([csv.status, csv.body.detail]).toEqual([422, expect.stringContaining('expected ndjson or json')]);
    const { roi: box, ...record } = JSON.parse(await whenOnCommandLine(roi));
    expect(found).toMatchObject(record);
    expect(Object.keys(found).sort()).toEqual(['roi', ...Object.keys(record)].sort());
    expect(box).toEqual(found.roi);
  },
  LIMIT_MS,
);

/** The same search in the file that `video` has written. */
async function whenOnCommandLine({ x, y, width, height }: Record<'x' | 'y' | 'width' | 'height', number>) {
  const file = 'yard-2026-06-01T12-00-00.mp4';
  const options = ['--roi', [x, y, width, height].join(','), '--covered', '2s', '--between', '10s', '170s', '--json'];
  const template = ['--template', '{camera}-{t:%Y-%m-%dT%H-%M-%S}.mp4'];
  const args = [resolve('dist/cli/main.js'), 'when', file, ...options, ...template];
  const { dataDir } = used.service;
  const env = { ...process.env, ...ENVIRONMENT, DEVICE: 'cpu', DATA_DIR: dataDir };
  return (await promisify(execFile)(process.execPath, args, { cwd: dataDir, env })).stdout;
}

it(
  'a line of a manifest that cannot be used is a failure, and the others are processed',
  async () => {
    const form = new FormData();
    const lines = [
      '{"file": "nonsense"}',
      'no json',
      '{"file": "https://127.0.0.1:1/a.jpg", "at": "2026-06-01T12:00:00Z"}',
    ];
    form.append('manifest', new Blob([lines.join('\n')]), 'manifest.ndjson');
    const { status, body } = await ask('POST', '/v1/batches', form);
    expect(status).toBe(202);
    const batch = await completed(body.id);
    expect(batch).toMatchObject({ failures: 3, frames: 0 });
    expect(batch.failed_inputs.map(({ file }: { file: string }) => file)).toEqual([
      'line 1 of the manifest',
      'line 2 of the manifest',
    ]);
  },
  LIMIT_MS,
);

it.each([
  [{ inputs: ['s3://archive/day/'] }, 422, 'S3_ENDPOINT'],
  [{ inputs: ['https://10.0.0.1/video.mp4'] }, 422, '10.0.0.1'],
  [{ inputs: ['https://cam.example/v.mp4'], template: '{nonsense' }, 422, 'template'],
  [
    { inputs: ['https://cam.example/v.mp4'], since: '2026-06-02T00:00:00Z', until: '2026-06-01T00:00:00Z' },
    422,
    'until',
  ],
  [{ inputs: [] }, 400, 'inputs'],
])('%j is refused before work begins', async (request, status, named) => {
  const answer = await ask('POST', '/v1/batches', request);
  expect(answer.body.detail).toContain(named);
  expect(answer.status).toBe(status);
});
