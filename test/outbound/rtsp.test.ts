/** Frames of RTSP cameras, by a real ffmpeg. */
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import sharp from 'sharp';
import { createOutboundClient, type OutboundClient } from '../../src/outbound/client.js';
import { wrapFfmpeg } from '../helpers/ffmpeg-wrapper.js';
import { type RtspCamera, type RtspCameraOptions, startRtspCamera } from '../helpers/rtsp-camera.js';

// Two processes of ffmpeg take seconds to start while other tests use every core.
jest.setTimeout(60_000);

const LOGIN = { username: 'viewer', password: 'geheim' };
let camera: RtspCamera;
let client: OutboundClient;
afterEach(async () => {
  await client?.close();
  await camera?.close();
});

interface Change {
  readonly ffmpeg?: string;
  readonly timeoutMs?: number;
  readonly pixelLimit?: number;
}
const setUp = async (options: RtspCameraOptions = {}, change: Change = {}) => {
  const { ffmpeg = 'ffmpeg', timeoutMs = 45_000, pixelLimit = 1_000_000 } = change;
  camera = await startRtspCamera(options);
  client = createOutboundClient(
    { outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: timeoutMs },
    { rtsp: { ffmpeg, pixelLimit } },
  );
  return (login?: typeof LOGIN, maxBytes = 100_000, url = camera.url) =>
    client.fetchImage(url, { maxBytes, field: 'snapshot', login });
};
const asked = () => camera.requests.map(({ method }) => method);

describe('a frame of an RTSP camera', () => {
  it.each(['h264', 'hevc', 'mpeg4', 'mjpeg'] as const)(
    'with %s is a key frame as JPEG in its colours',
    async (video) => {
      const fetch = await setUp({ video });
      const bytes = await fetch();
      expect(await sharp(bytes).metadata()).toMatchObject({ width: 320, height: 240, format: 'jpeg' });
      const { channels } = await sharp(bytes).stats();
      // Key frames are red; red is 231 without the conversion from BT.709.
      const [red = 0, green = 255, blue = 255] = channels.map(({ mean }) => mean);
      expect(red).toBeGreaterThan(245);
      expect(green).toBeLessThan(8);
      expect(blue).toBeLessThan(8);
    },
  );

  it('comes through one connection, and only its video is asked for', async () => {
    const fetch = await setUp();
    await fetch();
    expect(camera.connections).toBe(1);
    const expected = [
      ['OPTIONS', camera.url],
      ['DESCRIBE', camera.url],
      ['SETUP', `${camera.url}/track1`],
      ['PLAY', `${camera.url}/`],
    ];
    const sent = camera.requests.map(({ method, uri }) => [method, uri]);
    expect(sent.slice(0, expected.length)).toEqual(expected);
    // ffmpeg ends without waiting for the answer to its farewell, which may be lost with the connection.
    for (const farewell of sent.slice(expected.length)) expect(farewell).toEqual(['TEARDOWN', `${camera.url}/`]);
    expect(camera.requests[2]?.headers.transport).toMatch(/^RTP\/AVP\/TCP;/);
  });

  it.each([['basic'], ['digest-md5'], ['digest-sha256'], ['digest-rfc2069']] as const)(
    'that asks for a login by %s gets it once per request',
    async (scheme) => {
      const fetch = await setUp({ login: { ...LOGIN, schemes: [scheme] } });
      await fetch(LOGIN);
      const sent = camera.requests.map(({ method, headers }) => [method, headers.authorization?.split(' ')[0]]);
      const name = scheme === 'basic' ? 'Basic' : 'Digest';
      expect(sent.slice(0, 3)).toEqual([
        ['OPTIONS', undefined],
        ['OPTIONS', name],
        ['DESCRIBE', name],
      ]);
      expect(camera.requests.slice(0, 3).map(({ headers }) => headers.cseq)).toEqual(['1', '2', '3']);
    },
  );

  it('gets no answer to a nonce of an earlier connection', async () => {
    const fetch = await setUp({ login: { ...LOGIN, schemes: ['digest-md5'] } });
    for (const _time of [1, 2]) await fetch(LOGIN);
    const options = camera.requests.filter(({ method }) => method === 'OPTIONS');
    expect(options.map(({ headers }) => headers.authorization !== undefined)).toEqual([false, true, false, true]);
  });

  it('leaves no secret in the arguments and the environment of ffmpeg', async () => {
    const { program, arguments: args, environment } = await wrapFfmpeg();
    process.env.WEBHOOK_SECRET = 'whsec_geheim';
    const fetch = await setUp({ login: { ...LOGIN, schemes: ['basic'] } }, { ffmpeg: program });
    await fetch(LOGIN, 100_000, `${camera.url}?channel=1&password=geheim`).finally(() => {
      delete process.env.WEBHOOK_SECRET;
    });
    expect(camera.requests[0]?.uri).toBe(`${camera.url}?channel=1&password=geheim`);
    const seen = `${await args()}${await environment()}`;
    expect(seen).toContain('rtsp://127.0.0.1:');
    expect(seen).not.toMatch(/viewer|geheim|dmlld2Vy/);
    expect(seen).not.toContain(new URL(camera.url).port);
  });
});

describe('an RTSP camera', () => {
  it.each([
    [
      'a wrong password',
      { ...LOGIN, password: 'wrong' },
      'refused the user name or the password (401); it is asked again after five minutes',
    ],
    ['no login', undefined, 'answered 401: it asks for a user name and a password'],
  ])('with %s is url-failed with the reason, without login and query', async (_what, login, reason) => {
    const fetch = await setUp({ login: { ...LOGIN, schemes: ['digest-md5'] } });
    await expect(fetch(login, 100_000, `${camera.url}?token=geheim`)).rejects.toMatchObject({
      code: 'url-failed',
      field: 'snapshot',
      message: `${camera.url} ${reason}`,
    });
  });

  it('that has refused a login is not connected to with it again', async () => {
    const fetch = await setUp({ login: { ...LOGIN, schemes: ['basic'] } });
    const wrong = { ...LOGIN, password: 'wrong' };
    await expect(fetch(wrong)).rejects.toThrow('refused the user name or the password');
    await expect(fetch(wrong)).rejects.toThrow('refused the user name or the password');
    expect(camera.connections).toBe(1);
    await fetch(LOGIN);
  });

  it.each([['OPTIONS'], ['DESCRIBE']])('that redirects %s is url-failed, and nothing follows it', async (method) => {
    const fetch = await setUp({ answers: { [method]: 302 } });
    await expect(fetch()).rejects.toMatchObject({
      code: 'url-failed',
      message: `${camera.url} answered 302: redirects are not followed`,
    });
    expect(asked().at(-1)).toBe(method);
  });

  it('that describes a video at another address is asked for it over the same connection', async () => {
    const fetch = await setUp({ control: 'rtsp://10.0.0.9:8554/internal', answers: { SETUP: 404 } });
    await expect(fetch()).rejects.toThrow('answered 404 to SETUP, expected 200');
    expect(camera.requests.at(-1)?.uri).toBe('rtsp://10.0.0.9:8554/internal');
    expect(camera.connections).toBe(1);
  });

  it.each([
    ['404', 404, 'url-failed'],
    ['503', 503, 'url-unavailable'],
  ])('that answers %s is reported with the status', async (_status, status, code) => {
    const fetch = await setUp({ answers: { DESCRIBE: status } });
    const message = `${camera.url} answered ${status} to DESCRIBE, expected 200`;
    await expect(fetch()).rejects.toMatchObject({ code, message });
  });

  it('whose frames have too many pixels is url-failed', async () => {
    const fetch = await setUp({ video: 'h264', size: '640x480' }, { pixelLimit: 300_000 });
    await expect(fetch()).rejects.toThrow(/at most 300000 pixels \(PIXEL_LIMIT\)/);
  });

  it('whose frame is above the limit of bytes is payload-too-large', async () => {
    const fetch = await setUp();
    await expect(fetch(undefined, 100)).rejects.toMatchObject({
      code: 'payload-too-large',
      message: `${camera.url} has more than 100 bytes (FRAME_LIMIT)`,
    });
  });

  it.each([
    ['another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), /sent no video, expected an RTSP stream/],
    ['endless bytes', Buffer.alloc(200_000, 'x'), /sent bytes that are no RTSP message, expected an RTSP stream/],
    [
      'a long description',
      Buffer.from('RTSP/1.0 200 OK\r\nContent-Length: 99999999999\r\n\r\n'),
      /sent a message of more than 65536 bytes, expected an RTSP stream/,
    ],
  ])('that answers with %s is reported', async (_what, bytes, message) => {
    const fetch = await setUp({ bytes });
    await expect(fetch()).rejects.toMatchObject({ message: expect.stringMatching(message) });
  });

  it('that is not there is url-unavailable', async () => {
    const fetch = await setUp();
    await camera.close();
    await expect(fetch()).rejects.toMatchObject({ code: 'url-unavailable', message: /ECONNREFUSED/ });
  });
});

describe('at the timeout', () => {
  const SILENT = {
    'does not answer': [{ answers: { OPTIONS: 'never' } }, 'did not finish within 5000 ms (OUTBOUND_TIMEOUT_MS)'],
    'sends garbage for video': [{ video: 'garbage' }, 'sent no key frame within 5000 ms (OUTBOUND_TIMEOUT_MS)'],
    'sends no video': [{ video: 'none' }, 'did not finish within 5000 ms (OUTBOUND_TIMEOUT_MS)'],
  } as const satisfies Record<string, readonly [RtspCameraOptions, string]>;

  /** All are waited for at the same time. */
  const pulls = new Map<string, Promise<{ url: string; error: unknown; gone: () => Promise<void> }>>();
  beforeAll(() => {
    for (const [what, [options]] of Object.entries(SILENT)) pulls.set(what, pull(options));
  });
  async function pull(options: RtspCameraOptions) {
    const { program, gone } = await wrapFfmpeg();
    const camera = await startRtspCamera(options);
    const client = createOutboundClient(
      { outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: 5_000 },
      { rtsp: { ffmpeg: program, pixelLimit: 1_000_000 } },
    );
    const fetched = client.fetchImage(camera.url, { maxBytes: 100_000, field: 'snapshot' });
    const error = await fetched.then(
      () => 'an image',
      (error: unknown) => error,
    );
    await client.close();
    await camera.close();
    return { url: camera.url, error, gone };
  }

  it.each(Object.entries(SILENT))(
    'an RTSP camera that %s is url-unavailable, and ffmpeg is gone',
    async (what, row) => {
      const { url, error, gone } = (await pulls.get(what)) ?? {};
      expect(error).toMatchObject({ code: 'url-unavailable', field: 'snapshot', message: `${url} ${row[1]}` });
      await gone?.();
    },
  );
});
