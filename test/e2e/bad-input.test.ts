/**
 * Bad input to the whole service: the status, the type of the problem, and a message with the given and the expected
 * value. After each, the same service captions a good pair.
 */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import sharp from 'sharp';
import type { Lost } from '../../src/schemas/loss.js';
import { type Receiver, startReceiver } from '../helpers/receiver.js';
import { changedPair, scene, sceneJpeg } from '../helpers/scenes.js';
import { type Answer, answerOf, get, post, type Service, startService } from '../helpers/service.js';

const TYPE = 'https://scenedelta.dev/errors/';

let service: Service;
let good: { before: Buffer; after: Buffer };
beforeAll(async () => {
  good = await changedPair();
  service = await startService({ env: { OUTBOUND_TIMEOUT_MS: '500', FRAME_LIMIT: '2000000' } });
}, 240_000);
afterAll(async () => {
  await service?.stop();
});

async function expectService() {
  expect((await get(service, '/livez')).status).toBe(200);
  expect((await post(service, good)).body.caption).toBe('A red thing has appeared on the right.');
}
function expectProblem(answer: Answer, status: number, code: string, detail: RegExp, field?: string) {
  expect(answer.body).toMatchObject({
    status,
    type: TYPE + code,
    detail: expect.stringMatching(detail),
    ...(field === undefined ? {} : { field }),
  });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
}

/** A small JPEG whose header claims another size. */
function claiming(jpeg: Buffer, width: number, height: number): Buffer {
  const claim = Buffer.from(jpeg);
  // SOF0: marker, length (2 bytes), precision (1), height (2), width (2)
  const frameHeader = claim.indexOf(Buffer.from([0xff, 0xc0]));
  claim.writeUInt16BE(height, frameHeader + 5);
  claim.writeUInt16BE(width, frameHeader + 7);
  return claim;
}

describe('a frame that cannot be compared', () => {
  const cases: [what: string, frame: () => Buffer | Promise<Buffer>, status: number, code: string, detail: RegExp][] = [
    ['is text', () => Buffer.from('this is no image'), 422, 'image-unreadable', /starts with 7468697320697320/],
    ['has no bytes', () => Buffer.alloc(0), 422, 'image-unreadable', /0 bytes/],
    ['is random bytes', () => randomBytes(5000), 422, 'image-unreadable', /5000 bytes/],
    ['ends at its beginning', () => good.after.subarray(0, good.after.length / 40), 422, 'image-unreadable', /after/],
    ['claims 50,000 x 50,000 px', () => claiming(good.after, 50_000, 50_000), 422, 'image-too-large', /50,?000/],
    ['is one pixel', () => sceneJpeg({ width: 1, height: 1 }), 422, 'image-too-small', /1 ?[x×] ?1/],
    [
      'has another shape than the other frame',
      () => sceneJpeg({ width: 256, height: 384 }),
      422,
      'frames-differ-in-shape',
      /384.*256/,
    ],
    [
      'is larger than FRAME_LIMIT',
      () => Buffer.concat([good.after, randomBytes(2_000_000)]),
      413,
      'payload-too-large',
      /2000000/,
    ],
  ];
  it.each(cases)('%s', async (_what, frame, status, code, detail) => {
    expectProblem(await post(service, { before: good.before, after: await frame() }), status, code, detail, 'after');
    await expectService();
  });
});

describe('a frame that is unusual but fine', () => {
  const same = () => scene({ object: true });
  const cases: [what: string, frame: () => Promise<Buffer>][] = [
    ['PNG', () => same().png().toBuffer()],
    ['WebP', () => same().webp({ quality: 90 }).toBuffer()],
    ['AVIF', () => same().avif({ quality: 80, effort: 0 }).toBuffer()],
    ['TIFF', () => same().tiff().toBuffer()],
    ['GIF', () => same().gif().toBuffer()],
    ['CMYK JPEG', () => same().toColourspace('cmyk').jpeg({ quality: 95 }).toBuffer()],
    ['16-bit PNG', () => same().toColourspace('rgb16').png().toBuffer()],
    ['PNG with transparency', () => same().ensureAlpha(1).png().toBuffer()],
    [
      'rotated by EXIF',
      async () => {
        const turned = await same().rotate(-90).jpeg({ quality: 95 }).toBuffer();
        return sharp(turned).withMetadata({ orientation: 6 }).toBuffer();
      },
    ],
    [
      'animated GIF (its first frame counts)',
      async () => {
        const first = await same().png().toBuffer();
        const second = await scene().png().toBuffer();
        return sharp([first, second], { join: { animated: true } })
          .gif()
          .toBuffer();
      },
    ],
    ['of the same shape in another size', () => sceneJpeg({ object: true, width: 768, height: 512 })],
  ];
  it.each(cases)('%s', async (_what, frame) => {
    const { status, body } = await post(service, { before: good.before, after: await frame() });
    expect(body.caption).toMatch(/has appeared on the right\.$/);
    expect(status).toBe(200);
  });
});

it('a JPEG that ends in the middle is compared as far as it goes, and the answer says so', async () => {
  const cut = good.after.subarray(0, Math.floor(good.after.length * 0.6));
  const { status, body } = await post(service, { before: good.before, after: cut });
  expect([status, body.status]).toEqual([200, 'finished']);
  const { side, share, reason } = (body as { lost: Lost }).lost;
  expect([side, reason]).toEqual(['after', 'picture_damaged']);
  expect(share).toBeGreaterThan(0.1);
  expect(share).toBeLessThan(0.8);
});

describe('a frame given by an address', () => {
  let camera: Receiver;
  const answers: Record<string, (response: ServerResponse) => void> = {
    '/redirect': (response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    '/slow': () => {},
    '/missing': (response) => response.writeHead(404).end('no such camera'),
    '/page': (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>secret</html>'),
    '/lie': (response) => response.writeHead(200, { 'content-type': 'image/jpeg' }).end('<html>secret</html>'),
    '/endless': (response) => {
      response.writeHead(200, { 'content-type': 'image/jpeg' });
      const chunk = Buffer.alloc(65_536);
      const more = () => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    },
  };
  beforeAll(async () => {
    camera = await startReceiver(({ path }, response) => answers[path]?.(response));
  });
  afterAll(() => camera.close());

  const cases: [what: string, address: () => string, status: number, code: RegExp][] = [
    ['redirects', () => `${camera.url}/redirect`, 422, /url-(failed|refused)$/],
    ['is not there', () => `${camera.url}/missing`, 422, /url-failed$/],
    ['gives a page', () => `${camera.url}/page`, 422, /(url-failed|image-unreadable)$/],
    ['says image and gives a page', () => `${camera.url}/lie`, 422, /(url-failed|image-unreadable)$/],
    ['never ends', () => `${camera.url}/endless`, 413, /payload-too-large$/],
    ['is private', () => 'http://10.1.2.3/frame.jpg', 422, /url-refused$/],
    ['is the metadata address', () => 'http://169.254.169.254/latest/meta-data', 422, /url-refused$/],
    ['is this machine in other words', () => 'http://[::1]:9/frame.jpg', 422, /url-refused$/],
    ['cannot be parsed', () => 'http://:99999/', 422, /url-refused$/],
  ];
  it.each(cases)('%s', async (_what, address, status, code) => {
    const answer = await post(service, { before: good.before, after: address() });
    expect(answer.body).toMatchObject({ status, type: expect.stringMatching(code), field: 'after' });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).not.toContain('secret');
    await expectService();
  });

  it('that does not answer in time is attempted again, then reported', async () => {
    const answer = await post(service, { before: good.before, after: `${camera.url}/slow` });
    expectProblem(answer, 424, 'url-unavailable', /./, 'after');
    expect(camera.received.filter(({ path }) => path === '/slow').length).toBeGreaterThan(1);
    await expectService();
  });
});

describe('a body that does not fit', () => {
  const send = async (body: unknown, type = 'application/json') =>
    answerOf(
      await fetch(`${service.url}/v1/comparisons`, {
        method: 'POST',
        headers: { ...service.headers, 'content-type': type },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  const frames = () => ({ before: good.before.toString('base64'), after: good.after.toString('base64') });

  const wrong: [field: string, value: unknown][] = [
    ['before', 7],
    ['after', null],
    ['before', []],
    ['after', { url: 5 }],
    ['after', { base64: true }],
    ['camera', 3],
    ['camera', 'no spaces allowed'],
    ['model', false],
    ['callback_url', 12],
    ['callback_url', 'ftp://example.org/'],
    ['deadline_s', 'soon'],
    ['deadline_s', -1],
    ['priority', 'urgent'],
    ['surprise', 1],
  ];
  it.each(wrong)('JSON with %s = %j is refused by that name', async (field, value) => {
    const answer = await send({ ...frames(), [field]: value });
    expect(answer.body).toMatchObject({ status: 400, type: `${TYPE}invalid-request` });
    expect(answer.body.field).toMatch(new RegExp(`^/?${field}`));
    expect(answer.body.detail).toMatch(/expected/);
  });

  it.each([
    ['an array', [], 400, 'invalid-request'],
    ['broken JSON', '{"before": ', 400, 'malformed-body'],
    ['nothing', '', 400, 'malformed-body'],
  ])('%s', async (_what, body, status, code) => {
    expectProblem(await send(body), status, code, /./);
  });

  it('of another content type', async () => {
    expectProblem(await send('hello', 'text/plain'), 415, 'unsupported-media-type', /multipart\/form-data/);
  });

  it('a form without one of the frames', async () => {
    expectProblem(await post(service, { before: good.before }), 400, 'invalid-request', /after is missing/, 'after');
  });

  it('a model that no worker serves', async () => {
    const answer = await post(service, { ...good, model: 'no-such-model' });
    expectProblem(answer, 422, 'unknown-model', /"no-such-model".*bundle-tiny/, 'model');
  });

  it('is followed by a good one, which is served', expectService);
});
