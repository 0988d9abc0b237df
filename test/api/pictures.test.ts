import sharp from 'sharp';
import { frameKey, heatmapKey } from '../../src/base/blobs.js';
import type { Heatmap } from '../../src/base/images.js';
import { encodeHeatmapData } from '../../src/heatmaps/data.js';
import { acceptedComparison, finished } from '../helpers/comparisons.js';
import { fakeApp } from '../helpers/fake-app.js';
import { jpeg } from '../helpers/requests.js';

let fake: Awaited<ReturnType<typeof fakeApp>>;
let frame: Buffer;
const SHA = 'c'.repeat(64);

beforeAll(async () => {
  fake = await fakeApp();
  frame = await jpeg(100, 96, 64);
});
beforeEach(() => fake.reset());
afterAll(() => fake.app.close());

/** A 12 x 8 map with one cell of value 1, or none. */
function map(hot?: [column: number, row: number]): Heatmap {
  const data = new Float32Array(96);
  if (hot !== undefined) data[hot[1] * 12 + hot[0]] = 1;
  return { width: 12, height: 8, data };
}

async function compared(options: { bytes?: Buffer; contentType?: string; end?: boolean; model?: null } = {}) {
  const ref = {
    from: 'stored',
    sha256: SHA,
    bytes: 1,
    contentType: options.contentType ?? 'image/jpeg',
  } as const;
  const stored = acceptedComparison({ before: ref, after: ref });
  await fake.results.create(stored);
  await fake.blobs.put(frameKey(SHA), options.bytes ?? frame);
  if (options.end !== false) {
    const change = options.model === null ? { model: null } : {};
    await fake.results.update(stored.comparison.id, { comparison: finished(stored.comparison, change) });
    const words = { before: [map([1, 6]), map()], after: [map([3, 5]), map()] };
    const maps = { before: map(), after: map([9, 2]), words };
    await fake.blobs.put(heatmapKey(stored.comparison.id), encodeHeatmapData(maps));
  }
  const { id } = stored.comparison;
  return (path: string, headers = {}) => fake.inject({ url: `/v1/comparisons/${id}/${path}`, headers });
}

async function pixels(png: Buffer, channels: 1 | 3 = 3) {
  expect((await sharp(png).metadata()).channels).toBe(channels);
  const picture = sharp(png).toColourspace(channels === 1 ? 'b-w' : 'srgb');
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
  return { data, ...info };
}

describe('GET /v1/comparisons/{id}/frames/{side}', () => {
  it('returns the bytes as they were sent, with the detected type', async () => {
    const get = await compared({ contentType: 'image/webp' });
    const answer = await get('frames/before');
    expect(answer.rawPayload.equals(frame)).toBe(true);
    expect(answer.headers).toMatchObject({
      'content-type': 'image/webp',
      'x-content-type-options': 'nosniff',
    });
    expect((await get('frames/before', { 'if-none-match': answer.headers.etag })).statusCode).toBe(304);
  });

  it('answers 410 for an expired frame, and 400 for another side', async () => {
    const get = await compared();
    fake.blobs.kept.clear();
    const gone = await get('frames/after');
    expect(gone.statusCode).toBe(410);
    expect(gone.headers).not.toHaveProperty('etag');
    expect(gone.headers['cache-control']).toBe('no-store');
    expect((await get('frames/during')).statusCode).toBe(400);
  });

  it('answers 409 if the frame has not been fetched', async () => {
    const stored = acceptedComparison({ before: { from: 'url', url: 'https://cam.example/a.jpg' } });
    await fake.results.create(stored);
    const answer = await fake.inject({ url: `/v1/comparisons/${stored.comparison.id}/frames/before` });
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([409, '2']);
  });
});

describe('GET /v1/comparisons/{id}/heatmaps/{side}', () => {
  it('returns the plain frame for an empty map', async () => {
    const get = await compared();
    const picture = await pixels((await get('heatmaps/before')).rawPayload);
    const original = await sharp(frame).raw().toBuffer();
    expect([picture.width, picture.height]).toEqual([96, 64]);
    expect(Math.max(...picture.data.map((value, i) => Math.abs(value - (original[i] as number))))).toBe(0);
  });

  it('draws a line around the cell, tints its inside lightly and changes nothing else', async () => {
    const get = await compared();
    const { data, width } = await pixels((await get('heatmaps/after')).rawPayload);
    const change = (x: number, y: number) =>
      Math.max(...[0, 1, 2].map((c) => Math.abs((data[(y * width + x) * 3 + c] as number) - 100)));
    const row = Array.from({ length: 24 }, (_, i) => change(64 + i, 20));
    expect(Math.max(...row)).toBeGreaterThan(90); // the line
    expect(change(76, 20)).toBeGreaterThan(5); // the middle of the cell
    expect(change(76, 20)).toBeLessThan(30);
    expect(change(20, 50)).toBe(0);
  });

  it('colours the surroundings of the cell and nothing else with style=overlay', async () => {
    const get = await compared();
    const { data, width } = await pixels((await get('heatmaps/after?style=overlay')).rawPayload);
    const changed = (x: number, y: number) => Math.abs((data[(y * width + x) * 3] as number) - 100) > 20;
    expect(changed(9.5 * 8, 2.5 * 8)).toBe(true);
    expect(changed(20, 50)).toBe(false);
  });

  it('renders the map alone as gray, white at its maximum', async () => {
    const get = await compared();
    const { data, width } = await pixels((await get('heatmaps/after?style=gray')).rawPayload, 1);
    expect(data[20 * width + 76]).toBeGreaterThan(240);
    expect(data[50 * width + 20]).toBe(0);
  });

  it('renders the map of one word, and lists the words if there is no such word', async () => {
    const get = await compared();
    const hot = async (side: string, x: number, y: number) => {
      const { data, width } = await pixels((await get(`heatmaps/${side}?style=gray&word=0`)).rawPayload, 1);
      return (data[y * width + x] as number) > 240;
    };
    expect(await hot('before', 12, 52)).toBe(true);
    expect(await hot('after', 28, 44)).toBe(true); // another cell than in before
    expect(await hot('after', 12, 52)).toBe(false);
    const answer = await get('heatmaps/after?word=2');
    expect([answer.statusCode, answer.json().detail]).toEqual([422, 'word is 2, expected 0 to 1']);
  });

  it('returns the raw grid as float32, little endian, row by row', async () => {
    const get = await compared();
    const answer = await get('heatmaps/after?style=raw');
    expect(answer.headers).toMatchObject({ 'heatmap-width': '12', 'heatmap-height': '8' });
    const values = Array.from({ length: 96 }, (_, i) => answer.rawPayload.readFloatLE(i * 4));
    expect(values).toEqual([...map([9, 2]).data]);
  });

  it('is drawn over the frame as it is displayed: EXIF orientation applied, transparency on black', async () => {
    const turned = await sharp(frame).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const upright = await pixels((await (await compared({ bytes: turned }))('heatmaps/before')).rawPayload);
    expect([upright.width, upright.height]).toEqual([64, 96]);
    const clear = await sharp({
      create: { width: 96, height: 64, channels: 4, background: { r: 255, g: 255, b: 255, alpha: 0 } },
    })
      .png()
      .toBuffer();
    const { data } = await pixels((await (await compared({ bytes: clear }))('heatmaps/before')).rawPayload);
    expect(Math.max(...data)).toBe(0);
  });

  it('is at most 1280 pixels on its longer side', async () => {
    const get = await compared({ bytes: await jpeg(100, 1920, 1080) });
    const { width, height } = await pixels((await get('heatmaps/after')).rawPayload);
    expect([width, height]).toEqual([1280, 720]);
  });

  it('is not drawn again for a client with its ETag', async () => {
    const get = await compared();
    const { etag } = (await get('heatmaps/after?style=gray')).headers;
    expect((await get('heatmaps/after?style=gray', { 'if-none-match': etag })).statusCode).toBe(304);
    expect((await get('heatmaps/after', { 'if-none-match': etag })).statusCode).toBe(200);
  });

  it.each([
    ['has not finished', { end: false }, 409, 'not-finished'],
    ['was of identical frames', { model: null }, 404, 'not-found'],
  ])('is answered with a problem if the comparison %s', async (_name, options, status, code) => {
    const answer = await (await compared(options))('heatmaps/after');
    expect([answer.statusCode, answer.json().type.split('/').at(-1)]).toEqual([status, code]);
  });

  it('is not drawn without its frame, which leaves the raw grid; without its data it is gone', async () => {
    const get = await compared();
    fake.blobs.kept.delete(frameKey(SHA));
    const gone = await get('heatmaps/after');
    expect(gone.statusCode).toBe(410);
    expect(gone.headers).not.toHaveProperty('etag');
    expect(gone.headers['cache-control']).toBe('no-store');
    expect((await get('heatmaps/after?style=raw')).statusCode).toBe(200);
    fake.blobs.kept.clear();
    expect((await get('heatmaps/after?style=raw')).statusCode).toBe(410);
  });
});
