/** Cameras: privacy masks in answers, erasure, and the scopes of API keys. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { frameKey } from '../../src/base/blobs.js';
import { newId } from '../../src/base/ids.js';
import { cameraApi, isBlackRight, JSON_TYPE, PRIVACY } from '../helpers/camera-api.js';
import { acceptedComparison } from '../helpers/comparisons.js';
import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg } from '../helpers/requests.js';

let service: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  service = await fakeApp({ bodyLimit: 200_000, frameLimit: 50_000 });
});
beforeEach(() => service.reset());
afterAll(() => service.app.close());
const { get, put, send } = cameraApi(() => service);

describe('pictures of a camera with privacy zones', () => {
  const stored = async (mask?: string) => {
    const bytes = await jpeg(120);
    await service.blobs.put(frameKey('c'.repeat(64)), bytes);
    const ref = {
      from: 'stored' as const,
      sha256: 'c'.repeat(64),
      bytes: bytes.length,
      contentType: 'image/jpeg',
      ...(mask === undefined ? {} : { mask }),
    };
    const accepted = acceptedComparison({ camera: 'gate', id: newId('cmp'), before: ref, after: ref });
    await service.results.create(accepted);
    return accepted.comparison.id;
  };

  it('are served masked although they were stored before the zones were set', async () => {
    const id = await stored();
    const plain = await get(`/v1/comparisons/${id}/frames/after`);
    expect(await isBlackRight(plain.rawPayload)).toBe(false);
    await put('gate', { zones: [PRIVACY] });
    const masked = await get(`/v1/comparisons/${id}/frames/after`);
    expect(await isBlackRight(masked.rawPayload)).toBe(true);
    expect(masked.headers.etag).not.toBe(plain.headers.etag);
    const hash = String(plain.headers.etag).slice(1, -1);
    expect(masked.headers.etag).not.toContain(hash);
  });

  it('are masked too if the comparison only names the camera', async () => {
    await put('gate', { zones: [PRIVACY] });
    const body = form({ before: await jpeg(120), after: await jpeg(121), camera: 'gate' });
    const answer = await service.inject({
      method: 'POST',
      url: '/v1/comparisons',
      ...body,
      headers: { ...body.headers, prefer: 'respond-async' },
    });
    const frames = service.results.kept.get(answer.json().id)?.frames;
    for (const ref of [frames?.before, frames?.after]) {
      expect(await isBlackRight(service.blobs.kept.get(frameKey(ref?.sha256 ?? '')) as Uint8Array)).toBe(true);
    }
  });
});

describe('erasing a camera', () => {
  it('erases its settings, its schedule and every comparison that names it, and nothing of other cameras', async () => {
    await put('gate', { snapshot: { url: 'https://cam.example/a.jpg', interval_s: 5 } });
    await put('yard', {});
    const frame = await jpeg();
    const gone = (await send('gate', form({ frame }))).json().id;
    const kept = (await send('yard', form({ frame }))).json().id;
    const erase = () => service.inject({ method: 'DELETE', url: '/v1/cameras/gate' });
    expect((await erase()).statusCode).toBe(204);
    expect([...service.results.kept.keys()]).toEqual([kept]);
    expect(service.queue.cancelled).toEqual([gone]);
    expect(service.queue.snapshots.size).toBe(0);
    expect((await get('/v1/cameras/gate')).statusCode).toBe(404);
    expect((await erase()).statusCode).toBe(404);
  });

  it('erases a frame that is being accepted too, whose sender gets 404', async () => {
    await put('gate', {});
    const { results, cameras } = service;
    const create = jest.spyOn(results, 'create').mockImplementationOnce(async () => {
      await cameras.erase('gate');
      return false;
    });
    const answer = await send('gate', form({ frame: await jpeg() }));
    create.mockRestore();
    expect([answer.statusCode, answer.json().type]).toEqual([404, 'https://scenedelta.dev/errors/not-found']);
    // The turn that was queued with the frame finds nothing.
    expect([results.kept.size, cameras.waiting.size]).toEqual([0, 0]);
  });
});

describe('keys', () => {
  it('with compare may send frames and read; only admin may change a camera', async () => {
    const locked = await fakeApp({ auth: 'on' });
    const { secret } = await locked.apiKeys.create({ name: 'sender', scopes: ['compare'] });
    const headers = { authorization: `Bearer ${secret}`, ...JSON_TYPE };
    const ask = (method: 'PUT' | 'DELETE' | 'GET', url: string) =>
      locked.inject({ method, url, headers, ...(method === 'PUT' ? { payload: '{}' } : {}) });
    expect((await ask('PUT', '/v1/cameras/a')).statusCode).toBe(403);
    expect((await ask('DELETE', '/v1/cameras/a')).statusCode).toBe(403);
    expect((await ask('GET', '/v1/cameras')).statusCode).toBe(200);
    await locked.app.close();
  });

  it('without admin get addresses without their queries, which may contain tokens', async () => {
    const locked = await fakeApp({ auth: 'on' });
    const key = async (scope: 'admin' | 'compare') => ({
      ...JSON_TYPE,
      'x-api-key': (await locked.apiKeys.create({ name: scope, scopes: [scope], cameras: ['gate'] })).secret,
    });
    const [admin, sender] = [await key('admin'), await key('compare')];
    const addresses = {
      snapshot: { url: 'https://cam.example/a.jpg?token=hunter2', interval_s: 60 },
      alerts: { callback_url: 'https://hooks.example/in?key=hunter2' },
    };
    const url = '/v1/cameras/gate';
    const payload = JSON.stringify(addresses);
    const set = await locked.inject({ method: 'PUT', url, headers: admin, payload });
    expect(set.json()).toMatchObject(addresses);
    for (const path of [url, '/v1/cameras']) {
      expect((await locked.inject({ url: path, headers: admin })).body.match(/hunter2/g)).toHaveLength(2);
      const seen = await locked.inject({ url: path, headers: sender });
      expect(seen.body).not.toContain('hunter2');
      expect(seen.json().items?.[0] ?? seen.json()).toMatchObject({
        snapshot: { url: 'https://cam.example/a.jpg', interval_s: 60 },
        alerts: { callback_url: 'https://hooks.example/in' },
      });
    }
    await locked.app.close();
  });
});
