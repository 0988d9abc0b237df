/** One call of a SOAP service of a camera, with a login by WS-UsernameToken, and by Digest or Basic if it asks so. */
import { ScenedeltaError, urlFailed } from '../base/errors.js';
import { originAndPath } from '../base/redact-url.js';
import { readUpTo } from '../process/http-exchange.js';
import type { Login } from '../secrets/login.js';
import type { GuardedAgent } from './guarded-agent.js';
import { createHttpLogins, parseChallenges } from './http-login.js';
import { USER_AGENT } from './post.js';
import { envelope, nodeAt, readEnvelope, textAt, usernameToken } from './soap.js';

const MOST_BYTES = 512 * 1024;
const MOST_SAID = 200;

/**
 * @param body the content of the body, as XML
 * @param options.at epoch ms by the clock of the camera
 * @returns the content of the answer's body, as readEnvelope gives it
 * @throws ScenedeltaError 'url-failed' with the status and what the camera said; else as GuardedAgent does
 */
export type SoapCall = (
  url: URL,
  body: string,
  options: { login: Login | undefined; at: number; signal: AbortSignal },
) => Promise<unknown>;

export function createSoapCall(agent: Pick<GuardedAgent, 'request'>, now: () => number): SoapCall {
  const logins = createHttpLogins(now);

  return async (url, body, { login, at, signal }) => {
    const failed = (why: string) => urlFailed(`${originAndPath(url)} ${why}`, 'url');
    const target = { origin: url.origin, method: 'POST', uri: url.pathname + url.search };
    return logins.exchange(target, login, failed, async (authorization) => {
      const answer = await agent.request(url, {
        ...{ method: 'POST', signal },
        headers: {
          ...{ 'content-type': 'application/soap+xml; charset=utf-8', 'accept-encoding': 'identity' },
          ...(authorization === undefined ? {} : { authorization }),
          'user-agent': USER_AGENT,
        },
        body: envelope(login === undefined ? '' : usernameToken(login, at), body),
      });
      const read = await readUpTo(answer, MOST_BYTES).finally(() => answer.body.destroy());
      if (read === undefined) throw failed(`answered more than ${MOST_BYTES} bytes`);
      const { status } = answer;
      const challenges = parseChallenges([answer.headers['www-authenticate'] ?? []].flat());
      if (status === 401 && login !== undefined && challenges.length > 0) return { challenges };
      const content = nodeAt(await readEnvelope(read.toString('utf8')), 'Body');
      if (status === 200 && content !== undefined && nodeAt(content, 'Fault') === undefined) return { result: content };
      const asks = status === 401 && login === undefined ? ': it asks for a user name and a password' : '';
      throw failed(`answered ${status}${asks || saidIn(content)}`);
    });
  };
}

/** @returns the reason of a fault, e.g. ': Sender not authorized' */
function saidIn(content: unknown): string {
  const text = textAt(content, 'Fault', 'Reason', 'Text') || textAt(content, 'Fault', 'Code', 'Subcode', 'Value');
  const said = text.replace(/\p{C}+/gu, ' ').slice(0, MOST_SAID);
  return said === '' ? '' : `: ${said}`;
}

/** @returns undefined if the camera refused the call, which it may */
export const unlessRefused = (thrown: unknown): undefined => {
  if (thrown instanceof ScenedeltaError && thrown.code === 'url-failed') return undefined;
  throw thrown;
};
