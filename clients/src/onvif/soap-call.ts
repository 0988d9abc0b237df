/** One call of a SOAP service of a camera, with a login by WS-UsernameToken, and by Digest of HTTP if it asks so. */
import { Failure, failureOf, refused } from '../failure.js';
import { digestAuthorization, type NonceCounts } from './digest.js';
import { envelope, type Login, nodeAt, readEnvelope, textAt, usernameToken } from './soap.js';

const MOST_BYTES = 512 * 1024;
/** Characters of the reason that a camera states. */
const MOST_REASON = 200;

/**
 * @param body the content of the body, as XML
 * @param options.at epoch ms by the clock of the camera
 * @returns the content of the answer's body, as readEnvelope gives it
 * @throws Failure 'unavailable' if the camera does not answer, else with the status and the reason that it states
 */
export async function callService(
  url: URL,
  body: string,
  options: { login: Login | undefined; at: number; signal: AbortSignal; counts: NonceCounts },
): Promise<unknown> {
  const { login, at, signal, counts } = options;
  const send = async (authorization?: string) => {
    const headers = new Headers({ 'content-type': 'application/soap+xml; charset=utf-8' });
    if (authorization !== undefined) headers.set('authorization', authorization);
    const token = login === undefined ? '' : usernameToken(login, at);
    const init = { method: 'POST', headers, body: envelope(token, body), redirect: 'manual', signal } as const;
    const answer = await fetch(url, init).catch((thrown: Error) => {
      throw unreachable(url, thrown);
    });
    return { answer, text: await readText(url, answer) };
  };

  let { answer, text } = await send();
  let hint = 'it asks for a user name and a password';
  if (answer.status === 401 && login !== undefined) {
    const challenges = answer.headers.get('www-authenticate') ?? '';
    const authorization = digestAuthorization(challenges, login, url.pathname + url.search, counts);
    hint = 'it asks for a login by another scheme than Digest (MD5 or SHA-256)';
    if (authorization !== undefined) {
      ({ answer, text } = await send(authorization));
      hint = 'it refuses the user name or the password';
    }
  }
  const content = nodeAt(readEnvelope(text), 'Body');
  if (answer.status === 200 && content !== undefined && nodeAt(content, 'Fault') === undefined) return content;
  const reason = answer.status === 401 ? `: ${hint}` : reasonIn(content);
  const message = `${withoutQuery(url)} answered ${answer.status}${reason}`;
  // Faults of SOAP have the status 500.
  throw answer.status === 500 ? refused(message) : failureOf(answer.status, message);
}

export const withoutQuery = (url: URL): string => url.origin + url.pathname;

/** @throws Failure 'refused' if it is too long, 'unavailable' if it ends too early */
async function readText(url: URL, { body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > MOST_BYTES) throw refused(`${withoutQuery(url)} answered more than ${MOST_BYTES} bytes`);
      chunks.push(chunk);
    }
  } catch (thrown) {
    throw thrown instanceof Failure ? thrown : unreachable(url, thrown as Error);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function unreachable(url: URL, thrown: Error): Failure {
  const { code, message } = (thrown.cause ?? thrown) as NodeJS.ErrnoException;
  const why = thrown.name === 'TimeoutError' ? 'did not answer in time' : `could not be reached (${code ?? message})`;
  return new Failure('unavailable', `${withoutQuery(url)} ${why}`, { cause: thrown });
}

/** @returns the reason of a fault, e.g. ': Sender not authorized' */
function reasonIn(content: unknown): string {
  const text = textAt(content, 'Fault', 'Reason', 'Text') || textAt(content, 'Fault', 'Code', 'Subcode', 'Value');
  const reason = text.replace(/\p{C}+/gu, ' ').slice(0, MOST_REASON);
  return reason === '' ? '' : `: ${reason}`;
}

/** @returns undefined if the camera answered that it refuses the call, which it may */
export const unlessRefused = (thrown: unknown): undefined => {
  if (thrown instanceof Failure && thrown.kind !== 'unavailable') return undefined;
  throw thrown;
};
