/**
 * Relay between ffmpeg and a camera over RTSP (RFC 2326). It carries all traffic over one connection that the guard
 * made, answers the camera's request for a login, and ends at a redirect. ffmpeg gets neither the address of the camera
 * nor its login, so that the list of processes shows none of them. RTSP takes the authentication of HTTP.
 */
import { randomUUID } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Login } from '../secrets/login.js';
import { type HttpLogins, parseChallenges } from './http-login.js';
import { createSplitter, encodeMessage, headerValues, type RtspMessage, withHeader } from './rtsp-messages.js';

/** Logins of one request: with a nonce of this connection, and with another if that was stale. */
const MOST_LOGINS = 2;

interface RelayOptions {
  /** a connection to the camera */
  readonly camera: Socket;
  /** of the camera, without user name */
  readonly url: URL;
  readonly login: Login | undefined;
  readonly logins: HttpLogins;
}

/** State of the exchange, from the answers of the camera. */
interface CameraAnswers {
  /** why the relay ended the exchange */
  refused?: string;
  /** the last answer that is an error */
  failed?: { readonly method: string; readonly status: number };
  /** whether packets of media came */
  streaming: boolean;
}

export interface RtspRelay {
  /** address for ffmpeg; it has a secret path, so that no other program of this machine gets the stream */
  readonly address: string;
  readonly answers: Readonly<CameraAnswers>;
  close(): void;
}

export async function startRtspRelay(options: RelayOptions): Promise<RtspRelay> {
  const { camera } = options;
  const answers: CameraAnswers = { streaming: false };
  const clients = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    clients.add(client);
    client.on('error', () => {}).on('close', () => clients.delete(client));
    join(client, address, answers, options, () => server.close());
  });
  camera.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = `rtsp://127.0.0.1:${(server.address() as AddressInfo).port}/${randomUUID()}`;
  return {
    address,
    answers,
    close() {
      server.close();
      for (const client of clients) client.destroy();
      camera.destroy();
    },
  };
}

interface Request {
  readonly message: RtspMessage;
  readonly method: string;
  readonly uri: string;
  readonly sequence: string;
  logins: number;
}

/** Joins the first client that knows the secret address with the camera. @param onJoined called when it does */
function join(
  client: Socket,
  address: string,
  answers: CameraAnswers,
  { camera, url, login, logins }: RelayOptions,
  onJoined: () => void,
): void {
  const origin = `${url.protocol}//${url.host}`;
  const connection = randomUUID();
  let joined = false;
  let request: Request | undefined;
  let sent = 0;
  const end = (why: string) => {
    answers.refused ??= why;
    client.destroy();
    camera.destroy();
  };

  /** The relay numbers requests itself, because one of ffmpeg's takes two if the camera asks for a login. */
  const ask = ({ message }: Request, authorization: string | undefined) => {
    const numbered = withHeader(message, 'cseq', String(++sent));
    const complete = authorization === undefined ? numbered : withHeader(numbered, 'authorization', authorization);
    camera.write(encodeMessage(complete));
  };
  const onRequest = (message: RtspMessage) => {
    const [method = '', local = '', version = ''] = message.line.split(' ');
    if (!joined) {
      if (!local.startsWith(address)) return void client.destroy();
      joined = true;
      readCamera();
      onJoined();
    }
    const uri = local.startsWith(address) ? origin + url.pathname + url.search + local.slice(address.length) : local;
    const line = `${method} ${uri} ${version}`;
    const sequence = headerValues(message, 'cseq')[0] ?? '';
    request = { message: { ...message, line }, method, uri, sequence, logins: 0 };
    const step = login && logins.begin({ origin, method, uri, connection }, login);
    if (step !== undefined && 'refused' in step) return end(step.refused);
    ask(request, step?.authorization);
  };

  const onAnswer = (message: RtspMessage) => {
    const status = Number(/^RTSP\/\d\.\d (\d{3})/.exec(message.line)?.[1] ?? 0);
    if ((status >= 300 && status < 400) || message.line.startsWith('REDIRECT ')) {
      return end(`answered ${status || 'REDIRECT'}: redirects are not followed`);
    }
    if (status === 0 || request === undefined) return void client.write(encodeMessage(message));
    const { method, uri, sequence } = request;
    if (status === 401) {
      if (login === undefined) return end('answered 401: it asks for a user name and a password');
      if (request.logins === MOST_LOGINS) return end('answered 401 to each of several logins');
      const challenges = parseChallenges(headerValues(message, 'www-authenticate'));
      const step = logins.answer({ origin, method, uri, connection }, login, challenges, request.logins > 0);
      if ('refused' in step) return end(step.refused);
      request.logins++;
      return ask(request, step.authorization);
    }
    if (status >= 400) answers.failed = { method, status };
    client.write(encodeMessage(withHeader(message, 'cseq', sequence)));
  };
  const onMedia = (packet: Buffer) => {
    answers.streaming = true;
    if (client.write(packet) || camera.isPaused()) return;
    // Without this, a camera that sends faster than ffmpeg reads would fill the memory of the worker.
    camera.pause();
    client.once('drain', () => camera.resume());
  };

  const readCamera = () => {
    const take = createSplitter({ message: onAnswer, packet: onMedia });
    camera.on('data', (bytes) => {
      try {
        take(bytes);
      } catch (thrown) {
        end(`sent ${(thrown as Error).message}, expected an RTSP stream`);
      }
    });
    camera.on('close', () => client.end());
    client.on('close', () => camera.destroy());
    if (camera.destroyed) client.end();
  };
  const take = createSplitter({ message: onRequest, packet: (packet) => joined && camera.write(packet) });
  client.on('data', (bytes) => {
    try {
      take(bytes);
    } catch {
      client.destroy();
    }
  });
}
