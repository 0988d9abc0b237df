/** RTSP addresses that are refused, TLS, and the end of ffmpeg with the worker. */

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve as pathOf } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createOutboundClient, type OutboundClient } from '../../src/outbound/client.js';
import type { Resolve } from '../../src/outbound/guarded-agent.js';
import { eventually } from '../helpers/eventually.js';
import { wrapFfmpeg } from '../helpers/ffmpeg-wrapper.js';
import { type RtspCamera, startRtspCamera } from '../helpers/rtsp-camera.js';

// Two processes of ffmpeg take seconds to start while other tests use every core.
jest.setTimeout(60_000);

const SETTINGS = { outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: 45_000 };
const OPTIONS = { maxBytes: 100_000, field: 'snapshot' };
let camera: RtspCamera | undefined;
let client: OutboundClient;
afterEach(async () => {
  await client?.close();
  await camera?.close();
  camera = undefined;
});

const connectTo = (options: { ffmpeg?: string; allow?: string[]; timeoutMs?: number; resolve?: Resolve } = {}) => {
  const { ffmpeg = 'ffmpeg', allow, timeoutMs = 45_000, resolve } = options;
  client = createOutboundClient(
    { outboundAllow: allow ?? SETTINGS.outboundAllow, outboundTimeoutMs: timeoutMs },
    { rtsp: { ffmpeg, pixelLimit: 1_000_000 }, ...(resolve && { resolve }) },
  );
};

describe('an RTSP address', () => {
  it.each([
    ['a private address', 'rtsp://10.0.0.8/stream', /10\.0\.0\.8 is a private address/],
    ['this machine', 'rtsps://localhost.example:8554/', /no address that the service connects to/],
    ['this machine in another notation', 'rtsp://0x7f.1:8554/', /127\.0\.0\.1 is a loopback address/],
    ['this machine as a percent-encoded address', 'rtsp://%31%32%37.0.0.1:8554/', /127\.0\.0\.1 is a loopback/],
    ['this machine as an IPv6 address', 'rtsp://[::ffff:127.0.0.1]:8554/', /is a loopback address/],
    ['cloud metadata', 'rtsp://2852039166:8554/', /169\.254\.169\.254 is a link-local address/],
    ['a host that cannot be read', 'rtsp://256.256.256.256:8554/', /has no host that can be read/],
    ['a port of another service', 'rtsp://camera.example:25/', /port 25: expected 554, 322 or a port from 1024/],
    ['a login in the address', 'rtsp://u:p@camera.example/', /expected no user name or password in the URL/],
    ['a name with a private address', 'rtsp://camera.example/stream', /no address that the service connects to/],
  ])('with %s is refused without a connection and without ffmpeg', async (_what, url, reason) => {
    const { program, arguments: args } = await wrapFfmpeg();
    const resolve: Resolve = async () => [{ address: '10.0.0.8', family: 4 }];
    connectTo({ ffmpeg: program, allow: [], timeoutMs: 2_000, resolve });
    await expect(client.fetchImage(url, OPTIONS)).rejects.toThrow(reason);
    await expect(args()).rejects.toThrow('ENOENT');
  });

  it('is resolved once, and the connection goes to the checked address', async () => {
    camera = await startRtspCamera();
    let lookups = 0;
    const resolve: Resolve = async () => [{ address: ++lookups === 1 ? '127.0.0.1' : '10.0.0.8', family: 4 }];
    connectTo({ resolve });
    const url = camera.url.replace('127.0.0.1', 'camera.example');
    expect((await client.fetchImage(url, OPTIONS)).length).toBeGreaterThan(500);
    expect(camera.requests[0]?.uri).toBe(url);
    expect(lookups).toBe(1);
  });

  it('is refused by a client without settings for it', async () => {
    client = createOutboundClient(SETTINGS);
    await expect(client.fetchImage('rtsp://camera.example/', OPTIONS)).rejects.toMatchObject({
      code: 'url-refused',
      message: expect.stringContaining('expected http:// or https://, got rtsp://'),
    });
  });
});

describe('without ffmpeg', () => {
  it.each([
    ['is missing', '/nowhere/ffmpeg', 'ENOENT'],
    ['is not executable', pathOf('package.json'), 'EACCES'],
  ])('a program that %s is named with its setting', async (_what, ffmpeg, code) => {
    camera = await startRtspCamera();
    connectTo({ ffmpeg });
    await expect(client.fetchImage(camera.url, OPTIONS)).rejects.toMatchObject({
      code: 'url-failed',
      field: 'snapshot',
      message:
        `${camera.url} is an RTSP address, and the worker cannot run "${ffmpeg}" (${code}): expected ffmpeg to be ` +
        'installed on all workers, or its path in FFMPEG',
    });
    await eventually(() => expect(camera?.open).toBe(0));
  });
});

describe('ffmpeg', () => {
  it('is gone when the client has closed', async () => {
    const { program, started, gone } = await wrapFfmpeg();
    camera = await startRtspCamera({ video: 'none' });
    connectTo({ ffmpeg: program });
    const failure = client.fetchImage(camera.url, OPTIONS).catch((thrown) => thrown);
    await started();
    await client.close();
    expect(await failure).toMatchObject({ code: 'url-unavailable' });
    await gone();
    await eventually(() => expect(camera?.open).toBe(0));
  });

  it('is gone when the caller has given up', async () => {
    const { program, started, gone } = await wrapFfmpeg();
    camera = await startRtspCamera({ video: 'none' });
    connectTo({ ffmpeg: program });
    const caller = new AbortController();
    const failure = client.fetchImage(camera.url, { ...OPTIONS, signal: caller.signal }).catch((thrown) => thrown);
    await started();
    caller.abort(new Error('no longer wanted'));
    expect(await failure).toEqual(new Error('no longer wanted'));
    await gone();
  });

  it('is not started if the caller has given up before', async () => {
    const { program, arguments: args } = await wrapFfmpeg();
    camera = await startRtspCamera({ video: 'none' });
    connectTo({ ffmpeg: program });
    const signal = AbortSignal.abort(new Error('no longer wanted'));
    await expect(client.fetchImage(camera.url, { ...OPTIONS, signal })).rejects.toThrow('no longer wanted');
    await expect(args()).rejects.toThrow('ENOENT');
  });

  it('ends by itself if the worker is killed', async () => {
    const { program, started, gone } = await wrapFfmpeg();
    camera = await startRtspCamera({ video: 'none' });
    const worker = runClient(camera.url, program, {});
    await started();
    worker.kill('SIGKILL');
    await gone();
  });
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
// biome-ignore lint/suspicious/noConsole: a skipped test says so
if (!hasOpenssl) console.warn('openssl is not installed: the tests of rtsps:// are skipped');

(hasOpenssl ? describe : describe.skip)('an rtsps:// address', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sd-tls-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const startTlsCamera = async () => {
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=camera', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const files = ['-keyout', keyFile, '-out', certFile];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files], {
      stdio: 'ignore',
    });
    camera = await startRtspCamera({ tls: { key: readFileSync(keyFile), cert: readFileSync(certFile) } });
    return { url: camera.url, certFile };
  };

  it('with a certificate that is not trusted is url-failed', async () => {
    const { url } = await startTlsCamera();
    connectTo();
    await expect(client.fetchImage(url, OPTIONS)).rejects.toMatchObject({
      code: 'url-failed',
      message: expect.stringContaining(`${url} has a certificate that is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT,`),
    });
    expect(camera?.requests).toEqual([]);
  });

  it('with a certificate that is named by its fingerprint delivers a frame', async () => {
    const { url, certFile } = await startTlsCamera();
    connectTo();
    const certificate = new X509Certificate(readFileSync(certFile)).fingerprint256;
    const frame = await client.fetchImage(url, { ...OPTIONS, certificate });
    expect(Buffer.from(frame).subarray(0, 2).toString('hex')).toBe('ffd8');
  });

  it('with a certificate of NODE_EXTRA_CA_CERTS delivers a frame', async () => {
    const { url, certFile } = await startTlsCamera();
    const worker = runClient(url, 'ffmpeg', { NODE_EXTRA_CA_CERTS: certFile });
    const output: string[] = [];
    worker.stdout.on('data', (chunk) => output.push(`${chunk}`));
    worker.stderr.on('data', (chunk) => output.push(`${chunk}`));
    await new Promise((done) => worker.once('close', done));
    expect(output.join('')).toBe('a frame');
  });
});

/** A process of its own that fetches one frame with the compiled client. */
function runClient(url: string, ffmpeg: string, env: NodeJS.ProcessEnv) {
  const code = `
    import { createOutboundClient } from ${JSON.stringify(pathOf('dist/outbound/client.js'))};
    const client = createOutboundClient(${JSON.stringify(SETTINGS)}, {
      rtsp: { ffmpeg: ${JSON.stringify(ffmpeg)}, pixelLimit: 1000000 },
    });
    const bytes = await client.fetchImage(${JSON.stringify(url)}, ${JSON.stringify(OPTIONS)});
    process.stdout.write(bytes[0] === 0xff && bytes[1] === 0xd8 ? 'a frame' : 'no frame');
    await client.close();
  `;
  return spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
