/** The part of an RTSP camera that ffmpeg needs, on 127.0.0.1. ffmpeg encodes its video. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { demandLogin, type LoginDemand } from './login-camera.js';

/** Frames per second, and from one key frame to the next. The key frames are red, the others are black. */
const [RATE, KEY_EVERY] = [10, 10];
/** Colours of high-definition video; without a label, decoders assume those of BT.601. */
const BT709 = ['-vf', 'scale=out_color_matrix=bt709', '-colorspace', 'bt709'];
const ENCODINGS = {
  h264: { type: 96, map: 'H264/90000', encoder: ['libx264', '-sc_threshold', '0', ...BT709] },
  hevc: { type: 96, map: 'H265/90000', encoder: ['libx265', '-x265-params', 'log-level=none', ...BT709] },
  mpeg4: { type: 96, map: 'MP4V-ES/90000', encoder: ['mpeg4'] },
  // Each of its frames is a key frame.
  mjpeg: { type: 26, map: 'JPEG/90000', encoder: ['mjpeg', '-huffman', '0', '-pix_fmt', 'yuvj420p'] },
} as const;

export interface RtspCameraOptions {
  /** without one, nothing is asked for */
  readonly login?: LoginDemand;
  /** status of the answers to these methods, if not 200; 'never': no answer */
  readonly answers?: Readonly<Record<string, number | 'never'>>;
  /** sent after PLAY from the fourth frame on, so that the first key frame is past; 'garbage': random packets */
  readonly video?: keyof typeof ENCODINGS | 'garbage' | 'none';
  /** of the frames */
  readonly size?: string;
  /** filter of ffmpeg for the frames that are played from now on */
  readonly drawn?: () => string;
  /** absent: any */
  readonly port?: number;
  /** sent in place of the answer to DESCRIBE */
  readonly bytes?: Buffer;
  /** URL of the video in the description, if not relative to that of the camera */
  readonly control?: string;
  /** certificate and key of rtsps:// */
  readonly tls?: TlsOptions;
}

interface RtspRequest {
  readonly method: string;
  readonly uri: string;
  readonly headers: Record<string, string>;
}
type Challenges = ReturnType<typeof demandLogin> | undefined;

export interface RtspCamera {
  readonly url: string;
  readonly requests: RtspRequest[];
  readonly connections: number;
  /** open connections */
  readonly open: number;
  close(): Promise<void>;
}

export async function startRtspCamera(options: RtspCameraOptions = {}): Promise<RtspCamera> {
  const { video = 'mjpeg', size = '320x240', control = 'track1', drawn = () => 'null' } = options;
  const encoding = ENCODINGS[video as keyof typeof ENCODINGS] ?? ENCODINGS.h264;
  const requests: RtspRequest[] = [];
  const sockets = new Set<Socket>();
  const closing: (() => void)[] = [];
  let connections = 0;

  const sdp = [
    ...['v=0', 'o=- 0 0 IN IP4 127.0.0.1', 's=camera', 'c=IN IP4 0.0.0.0', 't=0 0'],
    ...['m=audio 0 RTP/AVP 0', 'a=control:track0', `m=video 0 RTP/AVP ${encoding.type}`],
    ...[`a=rtpmap:${encoding.type} ${encoding.map}`, `a=control:${control}`, ''],
  ].join('\r\n');

  const play = async (socket: Socket) => {
    const send = (packet: Buffer) => {
      const head = Buffer.from([0x24, 0, 0, 0]);
      head.writeUInt16BE(packet.length, 2);
      if (!socket.destroyed) socket.write(Buffer.concat([head, packet]));
    };
    if (video === 'none') return;
    if (video === 'garbage') {
      const timer = setInterval(() => send(Buffer.alloc(900, `${Math.random()}`)), 10);
      return void closing.push(() => clearInterval(timer));
    }
    const rtp = createSocket('udp4');
    await new Promise<void>((done) => rtp.bind(0, '127.0.0.1', done));
    const times = new Set<number>();
    rtp.on('message', (packet) => {
      times.add(packet.readUInt32BE(4));
      if (times.size > 3) send(packet);
    });
    const source = spawnSource(video, { size, drawn: drawn() }, rtp.address().port);
    closing.push(() => {
      source.kill('SIGKILL');
      rtp.close();
    });
  };

  const answer = (socket: Socket, challengesFor: Challenges, { method, uri, headers }: RtspRequest) => {
    const planned = options.answers?.[method] ?? 200;
    if (planned === 'never') return;
    const challenges = challengesFor?.({ method, path: uri, headers }) ?? null;
    const status = challenges === null ? planned : 401;
    if (method === 'DESCRIBE' && status === 200 && options.bytes) return void socket.write(options.bytes);
    const body = status === 200 && method === 'DESCRIBE' ? sdp : '';
    const lines = [
      `RTSP/1.0 ${status} Reason`,
      `CSeq: ${headers.cseq}`,
      ...(challenges ?? []).map((one) => `WWW-Authenticate: ${one}`),
      ...(status === 302 ? ['Location: rtsp://127.0.0.1:9/internal'] : []),
      ...(method === 'DESCRIBE' ? ['Content-Type: application/sdp', `Content-Base: ${uri}/`] : []),
      ...(method === 'SETUP' ? ['Transport: RTP/AVP/TCP;unicast;interleaved=0-1'] : []),
      ...['Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN', 'Session: 1', `Content-Length: ${body.length}`],
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
    if (method === 'PLAY' && status === 200) void play(socket);
  };

  const onConnection = (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    const challengesFor = options.login && demandLogin(options.login);
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf('\r\n\r\n'); end !== -1; end = text.indexOf('\r\n\r\n')) {
        const [line = '', ...lines] = text.slice(0, end).split('\r\n');
        text = text.slice(end + 4);
        const [method = '', uri = ''] = line.split(' ');
        const headers = Object.fromEntries(
          lines.map((one) => [one.slice(0, one.indexOf(':')).toLowerCase(), one.replace(/^[^:]*:\s*/, '')]),
        );
        requests.push({ method, uri, headers });
        answer(socket, challengesFor, { method, uri, headers });
      }
    });
  };
  const server = options.tls ? createTlsServer(options.tls, onConnection) : createServer(onConnection);
  await new Promise<void>((done) => server.listen(options.port ?? 0, '127.0.0.1', done));
  const scheme = options.tls ? 'rtsps' : 'rtsp';
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/stream`,
    requests,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    async close() {
      for (const end of closing.splice(0)) end();
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

function spawnSource(
  video: keyof typeof ENCODINGS,
  { size, drawn }: { size: string; drawn: string },
  port: number,
): ChildProcess {
  const black = video === 'mjpeg' ? '' : `,drawbox=color=black:t=fill:enable='mod(n,${KEY_EVERY})'`;
  return spawn(
    'ffmpeg',
    [
      ...['-loglevel', 'quiet', '-re', '-f', 'lavfi', '-i', `color=red:size=${size}:rate=${RATE},${drawn}${black}`],
      ...['-pix_fmt', 'yuv420p', '-c:v', ...ENCODINGS[video].encoder, '-g', String(KEY_EVERY), '-bf', '0'],
      ...['-tune', 'zerolatency', '-preset', 'ultrafast', '-f', 'rtp', `rtp://127.0.0.1:${port}?pkt_size=1200`],
    ],
    { stdio: 'ignore' },
  );
}
