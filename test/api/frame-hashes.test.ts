/** A hash of a frame in a request opens only frames of the camera that it is for, and none that was erased. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { frameKey } from '../../src/base/blobs.js';
import { cameraApi, isBlackRight, JSON_TYPE, PRIVACY } from '../helpers/camera-api.js';
import { fakeApp } from '../helpers/fake-app.js';
import { form, jpeg } from '../helpers/requests.js';

let service: Awaited<ReturnType<typeof fakeApp>>;
beforeAll(async () => {
  service = await fakeApp();
});
beforeEach(() => service.reset());
afterAll(() => service.app.close());
const { put, send } = cameraApi(() => service);

/** @returns the comparison of a frame that the camera was sent, and the frame's hash */
async function sent(camera: string): Promise<{ id: string; sha256: string }> {
  const { id } = (await send(camera, form({ frame: await jpeg(120) }))).json();
  return { id, sha256: service.results.kept.get(id)?.frames.after?.sha256 ?? '' };
}
const uses: [string, (camera: string, sha256: string, zones?: object[]) => ReturnType<typeof put>][] = [
  ['a reference', (camera, sha256, zones = []) => put(camera, { before: 'reference', reference: { sha256 }, zones })],
  [
    'a baseline',
    (camera, sha256) =>
      service.inject({
        method: 'PUT',
        url: `/v1/cameras/${camera}/baseline`,
        payload: JSON.stringify({ frame: { sha256 } }),
        headers: JSON_TYPE,
      }),
  ],
];

describe.each(uses)('the hash of %s', (_what, use) => {
  beforeEach(async () => {
    for (const camera of ['gate', 'yard']) await put(camera, { before: 'previous' });
  });

  it('opens a frame of the camera', async () => {
    const { sha256 } = await sent('gate');
    expect((await use('gate', sha256)).statusCode).toBeLessThan(300);
  });

  it('opens no frame of another camera, and none of a pair', async () => {
    const { sha256 } = await sent('gate');
    const refused = await use('yard', sha256);
    expect([refused.statusCode, refused.json().detail]).toEqual([
      422,
      expect.stringContaining('expected a frame of yard that is still stored'),
    ]);
    const frame = await jpeg(90);
    const pair = form({ before: frame, after: frame });
    const { id } = (
      await service.inject({
        method: 'POST',
        url: '/v1/comparisons',
        payload: pair.payload,
        headers: { ...pair.headers, prefer: 'respond-async' },
      })
    ).json();
    const ofPair = service.results.kept.get(id)?.frames.after?.sha256 ?? '';
    expect((await use('yard', ofPair)).statusCode).toBe(422);
  });

  it('opens no frame of an erased comparison, though its bytes are still stored', async () => {
    const { id, sha256 } = await sent('gate');
    await service.inject({ method: 'DELETE', url: `/v1/comparisons/${id}` });
    expect(service.blobs.kept.has(frameKey(sha256))).toBe(true);
    expect((await use('gate', sha256)).statusCode).toBe(422);
  });

  it("opens a frame with the camera's later privacy zones on it", async () => {
    const { sha256 } = await sent('gate');
    await put('gate', { before: 'previous', zones: [PRIVACY] });
    const answer = (await use('gate', sha256, [PRIVACY])).json();
    const shown = service.blobs.kept.get(frameKey(answer.reference?.sha256 ?? answer.sha256));
    expect(await isBlackRight(shown as Uint8Array)).toBe(true);
  });
});

describe('an erasure leaves the hashes of its frames to the retention:', () => {
  it('of a comparison', async () => {
    await put('gate', {});
    const { id, sha256 } = await sent('gate');
    await service.inject({ method: 'DELETE', url: `/v1/comparisons/${id}` });
    expect(service.frameUses.queued).toEqual([sha256]);
  });

  it('of a camera, its reference included', async () => {
    const reference = (await jpeg(60)).toString('base64');
    const { reference: kept } = (await put('gate', { before: 'reference', reference })).json();
    const { sha256 } = await sent('gate');
    await service.inject({ method: 'DELETE', url: '/v1/cameras/gate' });
    expect(new Set(service.frameUses.queued)).toEqual(new Set([kept.sha256, sha256]));
  });
});
