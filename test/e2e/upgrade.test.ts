/**
 * An upgrade: this version starts on the Redis and the data folder that version 0.1.0 left behind, with finished
 * results, an open change, webhooks that failed and jobs that wait. test/fixtures/upgrade/README.md says how they were
 * made.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join, resolve } from 'node:path';
import { eventually } from '../helpers/eventually.js';
import { startRedis, type TestRedis } from '../helpers/redis.js';
import { sceneJpeg } from '../helpers/scenes.js';
import { finished, get, newDataDir } from '../helpers/service.js';

const FIXTURE = resolve('test/fixtures/upgrade/0.1.0');
interface Recorded {
  /** address at which queued jobs find a frame and a receiver, as in their payloads */
  readonly outside: string;
  readonly waiting: { readonly stored: string; readonly fetched: string; readonly turn: string };
  /** path -> body that the version before answered */
  readonly answers: Readonly<Record<string, unknown>>;
}
const recorded: Recorded = JSON.parse(readFileSync(join(FIXTURE, 'answers.json'), 'utf8'));
const PORT = 18_475;
const service = { url: `http://127.0.0.1:${PORT}`, headers: { authorization: '' } };

let redis: TestRedis;
let dataDir: string;
let outside: Server;
const processes: ChildProcess[] = [];
const received: { path: string; id: string; body: { type: string; data: { id: string } } }[] = [];

const start = (part: string) =>
  processes.push(
    spawn(process.execPath, [`dist/${part}/main.js`], {
      env: {
        ...process.env,
        ...{ PORT: String(PORT), DATA_DIR: dataDir, REDIS_URL: redis.url, AUTH: 'off', LOG_LEVEL: 'silent' },
        ...{ MODELS_DIR: 'test/fixtures', DEFAULT_MODEL: 'bundle-tiny', INFERENCE_THREADS: '1' },
        ...{ OUTBOUND_ALLOW: '127.0.0.0/8', RATE_LIMIT: '0' },
        // The dump is of a fixed day: nothing in it may be too old.
        ...{
          FRAME_RETENTION_HOURS: '87600',
          HEATMAP_RETENTION_HOURS: '87600',
          RESULT_RETENTION_HOURS: '87600',
        },
      },
      stdio: 'ignore',
    }),
  );
/** Version 0.1.0 linked to the frame before the first one of a camera, which does not exist. */
const withoutDeadLinks = (item: unknown): unknown => {
  const { status, model, frames } = (item ?? {}) as { status?: string; model?: unknown; frames?: { before?: unknown } };
  return status === 'finished' && model === null && frames !== undefined
    ? { ...(item as object), frames: { ...frames, before: undefined } }
    : item;
};
/** Answers differ in the address and signature of links, which are the process's own, and in the digits of figures. */
const comparable = (value: unknown, prepared = (item: unknown): unknown => item): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, given) => {
      const item = prepared(given);
      if (key === 'url' && /\/v1\//.test(String(item))) return 'link';
      if (typeof item !== 'number') return item;
      // Three digits; a probability below 1 is not presented as 1.
      return item > 0.999 && item <= 1 ? 0.999 : Number(item.toFixed(3));
    }),
  );

beforeAll(async () => {
  const frame = await sceneJpeg({ object: true });
  const { hostname, port } = new URL(recorded.outside);
  outside = createServer((request, response) => {
    if (request.method === 'GET') return response.end(frame);
    let text = '';
    request.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      received.push({
        path: request.url ?? '',
        id: String(request.headers['webhook-id']),
        body: JSON.parse(text),
      });
      response.end();
    });
    return undefined;
  });
  await new Promise<void>((done) => outside.listen(Number(port), hostname, done));
  dataDir = newDataDir();
  cpSync(join(FIXTURE, 'data'), dataDir, { recursive: true });
  redis = await startRedis({ dump: join(FIXTURE, 'dump.rdb') });
  start('api');
  // The process answers /livez before it has reached Redis.
  await eventually(async () => expect((await get(service, '/readyz?exclude=workers')).status).toBe(200), 20_000);
}, 40_000);

afterAll(async () => {
  const running = processes.filter(({ exitCode }) => exitCode === null);
  const ends = running.map((child) => new Promise((done) => child.once('exit', done)));
  for (const child of running) child.kill('SIGTERM');
  await Promise.all(ends);
  outside.closeAllConnections();
  outside.close();
  await redis.stop();
  rmSync(dataDir, { recursive: true, force: true });
}, 40_000);

describe('before a worker runs', () => {
  it.each(Object.keys(recorded.answers))('GET %s answers as the version before did', async (path) => {
    const { status, body } = await get(service, path);
    expect(status).toBe(200);
    // An update may add fields; the ones of the version before keep their values.
    expect(comparable(body)).toMatchObject(comparable(recorded.answers[path], withoutDeadLinks) as object);
  });

  it('frames and heatmaps of a finished comparison are served', async () => {
    const [path = ''] = Object.keys(recorded.answers);
    for (const picture of ['frames/before', 'frames/after', 'heatmaps/before', 'heatmaps/after?style=raw']) {
      expect((await get(service, `${path}/${picture}`)).status).toBe(200);
    }
  });
});

describe('while a worker runs', () => {
  beforeAll(async () => {
    start('workers');
    await eventually(async () => expect((await get(service, '/readyz')).status).toBe(200), 30_000);
  }, 40_000);

  it('a job of the version before, with frames that it stored, is finished', async () => {
    const { status, verdict, caption } = await finished(service, recorded.waiting.stored);
    expect({ status, verdict, caption }).toEqual({
      status: 'finished',
      verdict: 'change',
      caption: 'a red thing has appeared on the right',
    });
  });

  it('a job whose frame is still to be fetched is finished', async () => {
    expect((await finished(service, recorded.waiting.fetched)).status).toBe('finished');
  });

  it("a camera's waiting frame is compared with the background model that the version before had learned", async () => {
    const comparison = await finished(service, recorded.waiting.turn);
    expect(comparison.status).toBe('finished');
    expect(comparison.camera_frame?.before?.mode).toBe('memory');
    const { body } = await get(service, '/v1/changes?camera=gate');
    expect(body.items).toHaveLength(1);
    expect(body.items[0].last_seen).toBe('2026-06-01T12:00:30.000Z');
  });

  it('its webhook arrives, and those that had failed are tried again with the id they had', async () => {
    await eventually(() => {
      const paths = received.map(({ path }) => path);
      expect(paths).toEqual(expect.arrayContaining(['/queued', '/hook', '/alerts']));
    }, 30_000);
    const queued = received.find(({ path }) => path === '/queued');
    expect(queued?.body.data.id).toBe(recorded.waiting.stored);
    expect(new Set(received.map(({ id }) => id)).size).toBe(received.length);
  });
});
