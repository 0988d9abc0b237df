/** PUT and DELETE /v1/cameras/:id/baseline. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { frameKey } from '../../src/base/blobs.js';
import { advance } from '../../src/camera/changes/advance.js';
import { initialTrackerState } from '../../src/camera/changes/state.js';
import { initialCameraState } from '../../src/camera/state/state.js';
import { observed, RULES, regionAt, START } from '../camera/changes/scenario.js';
import { base64, cameraApi, isBlackRight, JSON_TYPE, PRIVACY } from '../helpers/camera-api.js';
import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg } from '../helpers/requests.js';

let service: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  service = await fakeApp({ bodyLimit: 200_000, frameLimit: 50_000 });
});
beforeEach(() => service.reset());
afterAll(() => service.app.close());
const { put } = cameraApi(() => service);

const url = '/v1/cameras/gate/baseline';
const set = (body: ReturnType<typeof form> | object) => {
  const isForm = 'payload' in body && Buffer.isBuffer(body.payload);
  const sent = isForm ? (body as ReturnType<typeof form>) : { payload: JSON.stringify(body), headers: JSON_TYPE };
  return service.inject({ method: 'PUT', url, ...sent });
};
const reset = () => service.inject({ method: 'DELETE', url });

describe('the baseline of a camera', () => {
  it('is set from a form, and the answer names the light and the changes that settle', async () => {
    await put('gate', { before: 'memory' });
    const tracker = [0, 1].reduce(
      (state, i) => advance(state, observed(START + i, { regions: [regionAt(0)] }), RULES).state,
      initialTrackerState(),
    );
    const open = tracker.tracks[0]?.id;
    service.cameras.states.set('gate', { ...initialCameraState(), tracker });
    const frame = await jpeg(120);
    const answer = await set(form({ frame }));
    expect(answer.statusCode).toBe(202);
    const { sha256 } = answer.json();
    expect(answer.json()).toEqual({
      camera: 'gate',
      action: 'set',
      before: 'memory',
      light: expect.stringMatching(/^(day|dusk|infrared)$/),
      sha256,
      settles: [open],
      detail: 'the next frame of gate is compared with this picture; open changes settle with it, without an alert: 1',
    });
    expect(service.blobs.kept.get(frameKey(sha256))).toEqual(frame);
    expect(service.cameras.orders).toMatchObject([
      { id: 'gate', event: { type: 'baseline.set', frame: { sha256 }, light: answer.json().light } },
    ]);
  });

  it('is set from base64, or from a stored frame by its hash', async () => {
    await put('gate', { before: 'previous' });
    const first = await set({ frame: base64(await jpeg(120)) });
    const { sha256 } = first.json();
    const again = await set({ frame: { sha256 } });
    expect([first.statusCode, again.statusCode]).toEqual([202, 202]);
    expect(again.json()).toMatchObject({ sha256, light: null, settles: [] });
  });

  it('is stored masked', async () => {
    await put('gate', { before: 'memory', zones: [PRIVACY] });
    const { sha256 } = (await set(form({ frame: await jpeg(120) }))).json();
    expect([...service.blobs.kept.keys()]).toEqual([frameKey(sha256)]);
    expect(await isBlackRight(service.blobs.kept.get(frameKey(sha256)) as Uint8Array)).toBe(true);
  });

  it('is reset', async () => {
    await put('gate', { before: 'memory' });
    const answer = await reset();
    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toMatchObject({
      action: 'reset',
      sha256: null,
      detail: 'the next frame of gate starts a new background model',
    });
    expect(service.cameras.orders).toEqual([{ id: 'gate', event: { type: 'baseline.reset' } }]);
  });
});

describe('refused, naming the field:', () => {
  it.each<[string, () => Promise<object>, number, string | undefined]>([
    ['a form without a picture', async () => form({}), 400, 'frame'],
    ['a form with another field', async () => form({ frame: await jpeg(), light: 'day' }), 400, 'light'],
    ['JSON without a picture', async () => ({}), 400, 'frame'],
    ['an address', async () => ({ frame: { url: 'https://a.example/x.jpg' } }), 400, 'frame'],
    ['a frame that is not stored', async () => ({ frame: { sha256: 'a'.repeat(64) } }), 422, 'frame'],
    ['no image', async () => form({ frame: Buffer.from('hello') }), 422, 'frame'],
    ['a damaged picture', async () => form({ frame: (await jpeg()).subarray(0, -60) }), 422, 'frame'],
    ['a picture that is too large', async () => form({ frame: Buffer.alloc(50_001, 255) }), 413, 'frame'],
  ])('%s', async (_what, body, status, field) => {
    await put('gate', { before: 'memory' });
    const answer = await set(await body());
    expect([answer.statusCode, answer.json().field]).toEqual([status, field]);
    expect(service.cameras.orders).toEqual([]);
    expect(service.blobs.kept.size).toBe(0);
  });

  it("a picture whose aspect ratio is not that of the camera's frames", async () => {
    await put('gate', { before: 'memory' });
    service.cameras.states.set('gate', { ...initialCameraState(), size: { width: 640, height: 100 } });
    const answer = await set(form({ frame: await jpeg() }));
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toMatchObject({ field: 'frame', detail: expect.stringContaining('640x100 px') });
  });

  it('a camera with a chosen reference, and one that does not exist', async () => {
    await put('gate', { before: 'reference', reference: base64(await jpeg(120)) });
    const refused = [await set(form({ frame: await jpeg() })), await reset()];
    expect(refused.map(({ statusCode }) => statusCode)).toEqual([422, 422]);
    expect(refused[1]?.json().detail).toContain('expected PUT /v1/cameras/gate with another reference');
    service.cameras.kept.clear();
    const missing = [await set(form({ frame: await jpeg() })), await reset()];
    expect(missing.map(({ statusCode }) => statusCode)).toEqual([404, 404]);
  });

  it('a key without the scope admin', async () => {
    const locked = await fakeApp({ auth: 'on' });
    const { secret } = await locked.apiKeys.create({ name: 'sender', scopes: ['compare'] });
    const headers = { 'x-api-key': secret };
    for (const method of ['PUT', 'DELETE'] as const) {
      expect((await locked.inject({ method, url, headers })).statusCode).toBe(403);
    }
    await locked.app.close();
  });
});
