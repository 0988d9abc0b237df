/** POST /v1/cameras/:id/frames. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { frameKey } from '../../src/base/blobs.js';
import type { Comparison } from '../../src/schemas/comparison.js';
import { base64, cameraApi, isBlackRight, PRIVACY } from '../helpers/camera-api.js';
import { finished } from '../helpers/comparisons.js';
import { eventually } from '../helpers/eventually.js';
import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg } from '../helpers/requests.js';

let service: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  service = await fakeApp({ bodyLimit: 200_000, frameLimit: 50_000 });
});
beforeEach(() => service.reset());
afterAll(() => service.app.close());
const { put, send } = cameraApi(() => service);

describe('a frame of a camera', () => {
  it('as a form is stored and added to the waiting frames by capture time, and a turn is queued', async () => {
    await put('gate', {});
    const frame = await jpeg();
    const captured_at = '2026-06-01T12:00:00Z';
    const answer = await send('gate', form({ frame, captured_at, metadata: '{"a":1}' }));
    expect(answer.statusCode).toBe(202);
    const { id } = answer.json();
    expect(answer.json()).toMatchObject({ camera: 'gate', status: 'queued', metadata: { a: 1 } });
    expect(answer.headers.location).toBe(`/v1/comparisons/${id}`);
    expect(service.cameras.waiting.get('gate')).toEqual([{ id, at: Date.parse(captured_at) }]);
    expect(service.queue.turns).toEqual(['gate']);
    expect(service.results.kept.get(id)?.request).toMatchObject({
      before: null,
      after: { from: 'stored' },
      turn: { camera: 'gate', capturedAt: Date.parse(captured_at) },
    });
    // It has no job of its own.
    expect(service.queue.jobs).toEqual([]);
  });

  it('may come in JSON in every form that comparisons accept', async () => {
    await put('gate', {});
    const bytes = await jpeg();
    for (const frame of [base64(bytes), { base64: base64(bytes) }, `data:image/jpeg;base64,${base64(bytes)}`]) {
      expect((await send('gate', { frame })).statusCode).toBe(202);
    }
    const url = await send('gate', { frame: { url: 'https://cam.example/a.jpg' } });
    expect(url.statusCode).toBe(202);
    const stored = service.results.kept.get(url.json().id);
    expect(stored).toMatchObject({ frames: { after: null }, request: { after: { from: 'url' } } });
    // The default of captured_at is now.
    expect(Math.abs((stored?.request.turn?.capturedAt ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  const endsWhileAwaited = async (end: (comparison: Comparison) => Comparison) => {
    await eventually(() => expect([service.events.listening, service.queue.turns.length]).toEqual([1, 1]));
    const [stored] = [...service.results.kept.values()];
    if (stored === undefined) throw new Error('the awaited comparison is not stored');
    await service.results.update(stored.comparison.id, { comparison: end(stored.comparison) });
  };

  it('is awaited like a comparison', async () => {
    await put('gate', {});
    const answering = send('gate', form({ frame: await jpeg() }), { prefer: 'wait=5' });
    await endsWhileAwaited((comparison) =>
      finished(comparison, {
        camera_frame: { captured_at: '2026-06-01T12:00:00.000Z', before: null, notes: [] },
      }),
    );
    const answer = await answering;
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['preference-applied']).toBe('wait=5');
    expect(answer.json()).toMatchObject({ status: 'finished', camera_frame: { before: null } });
    // The first frame of a camera has no "before", and no link to one.
    expect(Object.keys(answer.json().frames)).toEqual(['after']);
  });

  it('with captured_at in the query and in the body is refused', async () => {
    await put('gate', {});
    const { payload, headers } = form({ frame: await jpeg(), captured_at: '2026-06-01T12:00:00Z' });
    const url = '/v1/cameras/gate/frames?captured_at=2026-06-01T12:00:05Z';
    const answer = await service.inject({ method: 'POST', url, payload, headers });
    expect([answer.statusCode, answer.json().field]).toEqual([422, 'captured_at']);
    expect(service.results.kept.size).toBe(0);
  });

  it('that is out of order is answered with its problem and the comparison', async () => {
    await put('gate', {});
    const answering = send('gate', form({ frame: await jpeg() }), { prefer: 'wait=5' });
    const error = {
      type: 'https://scenedelta.dev/errors/frame-out-of-order',
      title: 'A later frame of the camera has been worked on already',
      status: 409,
      detail: 'late',
    };
    await endsWhileAwaited((comparison) => ({
      ...comparison,
      status: 'failed',
      finished_at: new Date().toISOString(),
      error,
    }));
    const answer = await answering;
    expect(answer.statusCode).toBe(409);
    expect(answer.json()).toMatchObject({ status: 409, comparison: { status: 'failed' } });
  });

  it('sent twice with one Idempotency-Key is accepted once', async () => {
    await put('gate', {});
    await put('yard', {});
    const frame = await jpeg();
    const headers = { prefer: 'respond-async', 'idempotency-key': 'k1' };
    const first = await send('gate', form({ frame }), headers);
    const again = await send('gate', form({ frame }), headers);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.json().id).toBe(first.json().id);
    expect((await send('yard', form({ frame }), headers)).json().type).toMatch(/idempotency-mismatch$/);
  });

  it('of a camera with privacy zones is masked before any byte of it is stored', async () => {
    await put('gate', { zones: [PRIVACY] });
    const frame = await jpeg(120);
    const { id } = (await send('gate', form({ frame }))).json();
    const after = service.results.kept.get(id)?.frames.after;
    expect(after).toMatchObject({ contentType: 'image/jpeg', mask: expect.stringMatching(/^msk_/) });
    expect(service.blobs.kept.size).toBe(1);
    expect(await isBlackRight(service.blobs.kept.get(frameKey(after?.sha256 ?? '')) ?? frame)).toBe(true);
  });

  it.each([
    ['without a frame', form({ captured_at: '2026-06-01T12:00:00Z' }), 400, 'frame'],
    ['of a comparison', form({ before: 'x', after: 'y' }), 400, 'before'],
    ['that is no image', form({ frame: Buffer.from('hello') }), 422, 'frame'],
    ['from a private address', { frame: { url: 'http://127.0.0.1/a.jpg' } }, 422, 'frame'],
    ['with an invalid capture time', { frame: 'AAAA', captured_at: 'yesterday' }, 400, 'captured_at'],
    [
      'captured in a leap second',
      { frame: { url: 'https://a.example/b.jpg' }, captured_at: '2016-12-31T23:59:60Z' },
      422,
      'captured_at',
    ],
    [
      'captured in the far future',
      { frame: { url: 'https://a.example/b.jpg' }, captured_at: '2999-01-01T00:00:00Z' },
      422,
      'captured_at',
    ],
    ['with an unknown member', { frame: 'AAAA', camera: 'other' }, 400, 'camera'],
    [
      'with a callback to a private address',
      { frame: { url: 'https://a.example/b.jpg' }, callback_url: 'http://10.1.1.1/' },
      422,
      'callback_url',
    ],
  ])('%s is refused', async (_what, body, status, field) => {
    await put('gate', {});
    const answer = await send('gate', body);
    expect(answer.statusCode).toBe(status);
    expect(answer.json().field).toBe(field);
    expect(service.results.kept.size).toBe(0);
    expect(service.queue.turns).toEqual([]);
  });

  it('is refused if the camera does not exist or a thousand frames wait', async () => {
    expect((await send('nowhere', form({ frame: await jpeg() }))).statusCode).toBe(404);
    await put('gate', {});
    service.cameras.waiting.set(
      'gate',
      Array.from({ length: 1000 }, (_, i) => ({ id: `cmp_${i}`, at: i })),
    );
    const answer = await send('gate', form({ frame: await jpeg() }));
    expect(answer.statusCode).toBe(503);
    expect(answer.json().type).toMatch(/overloaded$/);
  });

  it('leaves nothing behind if the queue is unavailable', async () => {
    await put('gate', {});
    const frame = await jpeg();
    service.queue.addTurn = () => Promise.reject(Object.assign(new Error('away')));
    const answer = await send('gate', form({ frame }));
    expect(answer.statusCode).toBe(500);
    expect(service.results.kept.size).toBe(0);
    Reflect.deleteProperty(service.queue, 'addTurn');
  });
});
