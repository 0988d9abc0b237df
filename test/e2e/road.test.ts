/** A pair through the built processes: in by HTTP; out as caption, heatmaps and signed webhook. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { Webhook } from 'standardwebhooks';
import { eventually } from '../helpers/eventually.js';
import { type Receiver, startReceiver } from '../helpers/receiver.js';
import { sceneJpeg } from '../helpers/scenes.js';
import { answerOf, finished, get, post, useService } from '../helpers/service.js';

const used = useService();

describe('a pair in which something appeared', () => {
  let answer: Awaited<ReturnType<typeof post>>;
  beforeAll(async () => {
    answer = await post(used.service, { ...used.pair, camera: 'gate-3', metadata: '{"shift":"night"}' });
  });

  it('is answered with the finished comparison: caption, words, regions, model', () => {
    expect(answer.status).toBe(200);
    const { body } = answer;
    expect(body).toMatchObject({
      status: 'finished',
      verdict: 'change',
      kind: 'appear',
      caption: 'A red thing has appeared on the right.',
      camera: 'gate-3',
      metadata: { shift: 'night' },
      model: { name: 'bundle-tiny', provider: 'cpu' },
    });
    expect(body.words.map(({ text }: { text: string }) => text).join(' ')).toBe(body.caption);
    const [region] = body.regions;
    expect(region.side).toBe('after');
    // The box lies at x 0.75 to 0.9, y 0.4 to 0.7; the map's cells are an eighth and a twelfth of the frame.
    expect(region.box.x).toBeGreaterThan(0.6);
    expect(region.box.x + region.box.width).toBeLessThan(1.001);
    expect(region.box.y).toBeGreaterThan(0.2);
    expect(region.box.y + region.box.height).toBeLessThan(0.9);
  });

  it('keeps its frames byte for byte', async () => {
    for (const side of ['before', 'after'] as const) {
      const response = await fetch(new URL(answer.body.frames[side].url, used.service.url));
      expect(response.status).toBe(200);
      expect(Buffer.from(await response.arrayBuffer()).equals(used.pair[side])).toBe(true);
    }
  });

  it('has a heatmap as large as its frame, brightest where the object is', async () => {
    const path = `/v1/comparisons/${answer.body.id}/heatmaps/after?style=gray`;
    const response = await fetch(new URL(path, used.service.url), { headers: used.service.headers });
    expect(response.headers.get('content-type')).toBe('image/png');
    const { data, info } = await sharp(Buffer.from(await response.arrayBuffer()))
      .toColourspace('b-w')
      .raw()
      .toBuffer({ resolveWithObject: true });
    expect([info.width, info.height]).toEqual([384, 256]);
    const at = (x: number, y: number) => data[(y * info.width + x) * info.channels] ?? 0;
    expect(at(Math.round(384 * 0.82), Math.round(256 * 0.55))).toBeGreaterThan(200);
    expect(at(40, 40)).toBeLessThan(30);
  });

  it('has a heatmap for each word of its sentence', async () => {
    const last = answer.body.words.length - 1;
    const inside = await get(used.service, `/v1/comparisons/${answer.body.id}/heatmaps/after?word=${last}`);
    const outside = await get(used.service, `/v1/comparisons/${answer.body.id}/heatmaps/after?word=${last + 1}`);
    expect(inside.status).toBe(200);
    expect(outside.status).toBeGreaterThanOrEqual(400);
    expect(outside.body.type).toMatch(/^https:\/\/scenedelta\.dev\/errors\//);
  });

  it('is found in the list of its camera', async () => {
    const { body } = await get(used.service, '/v1/comparisons?camera=gate-3');
    expect(body.items.map(({ id }: { id: string }) => id)).toContain(answer.body.id);
  });

  it('can be followed by server-sent events', async () => {
    const abort = new AbortController();
    const response = await fetch(`${used.service.url}/v1/comparisons/${answer.body.id}/events`, {
      headers: { ...used.service.headers, 'last-event-id': '0-0' },
      signal: abort.signal,
    });
    let heard = '';
    for await (const chunk of response.body ?? []) {
      heard += Buffer.from(chunk).toString('utf8');
      if (heard.includes('comparison.finished')) break;
    }
    abort.abort();
    expect([...heard.matchAll(/^event: (\S+)$/gm)].map(([, type]) => type)).toEqual([
      'comparison.queued',
      'comparison.running',
      'comparison.finished',
    ]);
  });
});

it('a pair of identical frames never reaches the model', async () => {
  const { body } = await post(used.service, { before: used.pair.before, after: used.pair.before });
  expect(body).toMatchObject({ verdict: 'none', model: null, confidence: 0, regions: [] });
});

it('a caller that does not wait gets 202 with Location and Retry-After', async () => {
  const { status, headers, body } = await post(used.service, used.pair, { prefer: 'respond-async' });
  expect(status).toBe(202);
  expect(headers.get('location')).toBe(`/v1/comparisons/${body.id}`);
  expect(headers.get('retry-after')).toBe('2');
  expect((await finished(used.service, body.id)).caption).toBe('A red thing has appeared on the right.');
});

it('the same Idempotency-Key gives the same comparison, marked as a replay', async () => {
  const key = { 'idempotency-key': 'night-shift-17' };
  const first = await post(used.service, used.pair, key);
  const second = await post(used.service, used.pair, key);
  expect(second.body.id).toBe(first.body.id);
  expect(second.headers.get('idempotent-replayed')).toBe('true');
});

describe('a webhook', () => {
  let receiver: Receiver;
  afterEach(() => receiver.close());

  it('carries the comparison, signed with the secret of this service, and its attempt is recorded', async () => {
    receiver = await startReceiver();
    const { body } = await post(
      used.service,
      { ...used.pair, callback_url: `${receiver.url}/hook` },
      { prefer: 'respond-async' },
    );
    await receiver.count(1);
    const [hook] = receiver.received;
    const secret = readFileSync(join(used.service.dataDir, 'webhook.secret'), 'utf8').trim();
    const event = new Webhook(secret).verify(hook?.body ?? '', hook?.headers ?? {}) as Record<string, never>;
    expect(JSON.stringify(event)).toContain(body.id);
    expect(JSON.stringify(event)).toContain('A red thing has appeared on the right.');
    await eventually(async () => {
      const { body: log } = await get(used.service, `/v1/comparisons/${body.id}/deliveries`);
      expect(log.items ?? log).toMatchObject([
        { id: hook?.headers['webhook-id'], state: 'delivered', attempts: [{ attempt: 1, status: 200 }] },
      ]);
    });
  });

  it('that fails is attempted again under the same id, without another run of the model', async () => {
    receiver = await startReceiver((_request, response) => {
      response.statusCode = receiver.received.length === 1 ? 500 : 204;
      response.end();
    });
    await post(used.service, { ...used.pair, callback_url: `${receiver.url}/hook` }, { prefer: 'respond-async' });
    // The schedule's first pause is 5 s, give or take a fifth.
    await receiver.count(2);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
  });
});

it('a comparison that is cancelled while its frame is fetched never finishes, and the service continues', async () => {
  let asked = () => {};
  const wasAsked = new Promise<void>((done) => {
    asked = done;
  });
  // Never answers, so the job stays in the download.
  const camera = await startReceiver(() => asked());
  try {
    const { body } = await post(
      used.service,
      { before: used.pair.before, after: `${camera.url}/frame.jpg` },
      { prefer: 'respond-async' },
    );
    await wasAsked;
    const erased = await fetch(`${used.service.url}/v1/comparisons/${body.id}`, {
      method: 'DELETE',
      headers: used.service.headers,
    });
    expect(erased.status).toBe(204);
    expect((await get(used.service, `/v1/comparisons/${body.id}`)).status).toBe(404);
    expect((await post(used.service, used.pair)).status).toBe(200);
  } finally {
    await camera.close();
  }
});

it('a frame may be given by address, and is fetched by the worker', async () => {
  const camera = await startReceiver((_request, response) => {
    response.setHeader('content-type', 'image/jpeg');
    response.end(used.pair.after);
  });
  try {
    const { body } = await post(used.service, { before: used.pair.before, after: `${camera.url}/frame.jpg` });
    expect(body.caption).toBe('A red thing has appeared on the right.');
    expect(camera.received.map(({ path }) => path)).toEqual(['/frame.jpg']);
  } finally {
    await camera.close();
  }
});

describe('API keys', () => {
  const cli = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, ['dist/cli/main.js', ...args], {
      env: { ...process.env, DATA_DIR: used.service.dataDir },
    });
    return stdout;
  };

  it('are created and revoked on the command line, with immediate effect', async () => {
    const secret = (await cli('keys', 'create', '--name', 'guard', '--secret-only')).trim();
    const listAs = async () =>
      answerOf(await fetch(`${used.service.url}/v1/comparisons`, { headers: { authorization: `Bearer ${secret}` } }));
    expect((await listAs()).status).toBe(200);
    const keys = JSON.parse(await cli('keys', 'list', '--json')) as { id: string; name: string }[];
    const { id } = keys.find(({ name }) => name === 'guard') ?? { id: '' };
    expect(JSON.stringify(keys)).not.toContain(secret);
    await cli('keys', 'revoke', id);
    expect((await listAs()).status).toBe(401);
  });

  it('are required: without one every answer is 401', async () => {
    const response = await fetch(`${used.service.url}/v1/comparisons`);
    expect(response.status).toBe(401);
  });
});

it('serves models, metrics and documentation', async () => {
  const models = await get(used.service, '/v1/models');
  expect(JSON.stringify(models.body)).toContain('bundle-tiny');
  expect((await get(used.service, '/metrics')).body).toContain('scenedelta_comparisons_accepted_total');
  expect((await get(used.service, '/docs')).status).toBe(200);
  expect((await get(used.service, '/readyz')).status).toBe(200);
});

it('answers another pair with the same before frame, from the feature cache, with the same caption', async () => {
  const after = await sceneJpeg({ object: true, seed: 3 });
  const { body } = await post(used.service, { before: used.pair.before, after });
  expect(body.caption).toBe('A red thing has appeared on the right.');
});
