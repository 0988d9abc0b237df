/**
 * Requests whose answer is read: a server that the operator runs, e.g. a language model. As all outbound requests, they
 * follow no redirects, reach allowed addresses only and have one deadline for the whole exchange.
 */
import { systemClock } from '../clock.js';
import { startDeadline } from '../deadline.js';
import { readUpTo } from '../http-exchange.js';
import { type AllowList, checkUrlSyntax } from './address.js';
import { createGuardedAgent, type Resolve } from './guarded-agent.js';
import { parseRetryAfter, USER_AGENT } from './post.js';
import { asUrlError } from './url-error.js';

/** ok: an answer 2xx. refused: another status, or an address that is not allowed. failed: no answer. */
export type AskOutcome =
  | { readonly kind: 'ok'; readonly body: string }
  | { readonly kind: 'refused' | 'failed' | 'too-large'; readonly error: string; readonly retry: Retry | null };

/** The server asks for another attempt: 429 or 5xx. */
interface Retry {
  /** delay that a Retry-After header asks for; null: none */
  readonly afterMs: number | null;
}

export interface Asker {
  /** Never throws because of the server's behaviour; its answer is in no message. */
  ask(
    url: string,
    options: { body: string; headers: Readonly<Record<string, string>>; maxBytes: number; signal?: AbortSignal },
  ): Promise<AskOutcome>;
  close(): Promise<void>;
}

/**
 * @param options.field setting that holds the address, for messages
 * @param options.timeoutMs of one exchange, from the first byte sent to the last byte read
 */
export function createAsker(options: {
  allow: AllowList;
  field: string;
  timeoutMs: number;
  resolve?: Resolve;
  now?: () => number;
}): Asker {
  const { allow, field, timeoutMs, resolve, now = systemClock } = options;
  const agent = createGuardedAgent({ allow, timeoutMs, ...(resolve === undefined ? {} : { resolve }) });

  const ask: Asker['ask'] = async (text, { body, headers, maxBytes, signal }) => {
    const deadline = startDeadline(timeoutMs, signal);
    try {
      const url = checkUrlSyntax(text, { allow, field });
      const answer = await agent.request(url, {
        method: 'POST',
        signal: deadline.signal,
        headers: { ...headers, 'user-agent': USER_AGENT, 'accept-encoding': 'identity' },
        body,
      });
      try {
        const { status } = answer;
        if (status < 200 || status > 299) return refusedBy(status, answer.headers['retry-after'], now());
        const read = await readUpTo(answer, maxBytes);
        if (read !== undefined) return { kind: 'ok', body: read.toString('utf8') };
        return { kind: 'too-large', error: `the server answered more than ${maxBytes} bytes`, retry: null };
      } finally {
        answer.body.destroy();
      }
    } catch (thrown) {
      if (signal?.aborted === true) throw signal.reason;
      const timedOut = deadline.expired;
      if (timedOut) return { kind: 'failed', error: `the server did not finish within ${timeoutMs} ms`, retry: null };
      const error = asUrlError(thrown, 'the server', { field, timeoutMs, timedOut });
      return { kind: error.code === 'url-refused' ? 'refused' : 'failed', error: error.message, retry: null };
    } finally {
      deadline.end();
    }
  };
  return { ask, close: async () => agent.close() };
}

function refusedBy(status: number, retryAfter: string | undefined, now: number): AskOutcome {
  const why = status >= 300 && status < 400 ? ', redirects are not followed' : '';
  const isTransient = status === 429 || status >= 500;
  return {
    kind: 'refused',
    error: `the server answered ${status}, expected 2xx${why}`,
    retry: isTransient ? { afterMs: parseRetryAfter(retryAfter, now) } : null,
  };
}
