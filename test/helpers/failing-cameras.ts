/** Cameras that fail in every way: pulled by HTTP, pulled by RTSP, and with a program that posts. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { picture } from './cameras.js';
import { startReceiver } from './receiver.js';
import { type RtspCamera, startRtspCamera } from './rtsp-camera.js';
import { startUnplugged } from './unplugged.js';

/** Faults with which a pull ends by its time limit alone. */
export const SLOW: ReadonlySet<string> = new Set(['hang', 'unplugged']);
export const FAULTS = ['hang', '503', 'refused', 'same picture', 'unplugged'] as const;
export type Fault = (typeof FAULTS)[number];

export interface FailingCamera {
  /** of its settings; null: a program posts its frames */
  readonly snapshot: { readonly url: string; readonly interval_s: number } | null;
  /** Sends its next frame, of a program that posts. */
  post(capturedAt: number): Promise<void>;
  fail(fault: Fault): Promise<void>;
  mend(): Promise<void>;
  close(): Promise<void>;
}

/** Seconds between two frames. */
export const INTERVAL_S = 100;

const FAINT: [number, number, number] = [110, 140, 170];

/** Frames that differ by little, so that none is a change. */
function createScene() {
  let number = 0;
  let stands = false;
  return {
    next() {
      if (!stands) number = (number + 1) % 8;
      return number;
    },
    stand(does: boolean) {
      stands = does;
    },
    frame: (place: number) => picture({ things: [[10 * place, 20, 8, 8, FAINT]] }),
    drawn: (place: number) => `drawbox=x=${10 * place}:y=20:w=8:h=8:t=fill:color=0xf01010`,
  };
}

/** @param start at this port; 0: any. @returns its port and how to close it */
async function onOnePort(start: (port: number) => Promise<{ port: number; close(): Promise<void> }>) {
  let running = await start(0);
  const { port } = running;
  let unplugged: (() => Promise<void>) | null = null;
  let isClosed = false;
  const close = async () => {
    if (!isClosed) await running.close();
    isClosed = true;
    await unplugged?.();
    unplugged = null;
  };
  return {
    port,
    async fail(fault: Fault) {
      if (fault !== 'refused' && fault !== 'unplugged') return;
      await close();
      if (fault === 'unplugged') unplugged = await startUnplugged(port);
    },
    async mend() {
      if (!isClosed) return;
      await close();
      running = await start(port);
      isClosed = false;
    },
    close,
  };
}

async function byHttp(): Promise<FailingCamera> {
  const scene = createScene();
  let fault: Fault | null = null;
  const host = await onOnePort(async (port) => {
    const server = await startReceiver(async (_request, response) => {
      if (fault === 'hang') return;
      if (fault === '503') return void response.writeHead(503).end();
      response.writeHead(200, { 'content-type': 'image/png' }).end(await scene.frame(scene.next()));
    }, port);
    return { port: Number(new URL(server.url).port), close: server.close };
  });
  return {
    snapshot: { url: `http://127.0.0.1:${host.port}/frame.png`, interval_s: INTERVAL_S },
    post: async () => {},
    async fail(given) {
      fault = given;
      scene.stand(given === 'same picture');
      await host.fail(given);
    },
    async mend() {
      fault = null;
      scene.stand(false);
      await host.mend();
    },
    close: host.close,
  };
}

async function byRtsp(): Promise<FailingCamera> {
  const scene = createScene();
  const answers: Record<string, number | 'never'> = {};
  let path = '';
  const host = await onOnePort(async (port) => {
    const camera: RtspCamera = await startRtspCamera({
      ...{ answers, port, size: '96x64', drawn: () => scene.drawn(scene.next()) },
    });
    path = new URL(camera.url).pathname;
    return { port: Number(new URL(camera.url).port), close: camera.close };
  });
  return {
    snapshot: { url: `rtsp://127.0.0.1:${host.port}${path}`, interval_s: INTERVAL_S },
    post: async () => {},
    async fail(given) {
      if (given === 'hang') answers.DESCRIBE = 'never';
      if (given === '503') answers.DESCRIBE = 503;
      scene.stand(given === 'same picture');
      await host.fail(given);
    },
    async mend() {
      delete answers.DESCRIBE;
      scene.stand(false);
      await host.mend();
    },
    close: host.close,
  };
}

async function byPosting(api: PostingApi): Promise<FailingCamera> {
  const scene = createScene();
  const hanging: Socket[] = [];
  let fault: Fault | null = null;
  const send = async (body: Uint8Array, capturedAt: number, key = api.key) => {
    const form = new FormData();
    form.append('frame', new Blob([new Uint8Array(body)], { type: 'image/png' }), 'frame.png');
    form.append('captured_at', new Date(capturedAt).toISOString());
    const headers = { authorization: `Bearer ${key}`, prefer: 'respond-async' };
    return (await fetch(api.url + api.path, { method: 'POST', body: form, headers })).status;
  };
  const beginUpload = async () => {
    const { hostname, port, host } = new URL(api.url);
    const socket = connect(Number(port), hostname).on('error', () => {});
    hanging.push(socket);
    const lines = [`POST ${api.path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${api.key}`];
    socket.write([...lines, 'Content-Type: image/jpeg', 'Content-Length: 100000', '', 'only a part'].join('\r\n'));
    await once(socket, 'connect');
  };
  const expectStatus = (status: number, expected: readonly number[]) => {
    if (!expected.includes(status)) throw new Error(`the API answers ${status}, expected ${expected.join(' or ')}`);
  };
  return {
    snapshot: null,
    async post(capturedAt) {
      if (fault === 'unplugged') return;
      if (fault === 'hang') return beginUpload();
      const page = Buffer.from('<html><title>503 Service Unavailable</title></html>');
      const body = fault === '503' ? page : await scene.frame(scene.next());
      const status = await send(body, capturedAt, fault === 'refused' ? `${api.key}x` : api.key);
      expectStatus(status, fault === '503' ? [400, 415, 422] : fault === 'refused' ? [401] : [202]);
    },
    async fail(given) {
      fault = given;
      scene.stand(given === 'same picture');
    },
    async mend() {
      fault = null;
      scene.stand(false);
    },
    async close() {
      for (const socket of hanging) socket.destroy();
    },
  };
}

interface PostingApi {
  readonly url: string;
  readonly path: string;
  readonly key: string;
}

export const CAMERAS = { HTTP: byHttp, RTSP: byRtsp, 'posted frames': byPosting } as const;
