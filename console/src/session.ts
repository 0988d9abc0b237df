/** Signing in. The key goes to the service once; from then on the browser sends a cookie that scripts cannot read. */
import { signal } from '@preact/signals';
import { ApiError, api, fetchApi, messageOf, ok, problemOf, whenSignedOut } from './api/client.js';
import { recoveries } from './api/connection.js';
import { addressOf } from './api/root.js';
import type { Session } from './api/types.js';
import { t } from './texts/texts.js';
import { shownSize } from './ui/format.js';

/** undefined: not known yet; null: signed out */
export const session = signal<Session | null | undefined>(undefined);
/** Why the last attempt to sign in failed. */
export const signInError = signal('');

/** The link that `npm run up` prints ends with such a fragment, which browsers do not send. */
const LINK = /^#sign-in=([\w.-]+)$/;

/** Signs in by the link that opened the page, or by the cookie; again when a service that was away is back. */
export function startSession(): void {
  whenSignedOut(() => {
    session.value = null;
  });
  let token = LINK.exec(location.hash)?.[1];
  if (token !== undefined) history.replaceState(null, '', location.pathname + location.search);
  const begin = async () => {
    if (token !== undefined) {
      const fault = await signIn(token);
      if (isAway(fault)) return;
      token = undefined;
      if (fault === null) return;
      signInError.value = t('This link has expired or was used before. Sign in with an API key.');
    }
    await readSession();
  };
  recoveries.subscribe(() => {
    if (session.peek() == null) void begin();
  });
}

/** Whether the service may give another answer when it is back. */
const isAway = (error: unknown): boolean => error instanceof ApiError && [0, 502, 504].includes(error.status);

async function readSession(): Promise<void> {
  try {
    session.value = await ok(api.GET('/v1/session'));
    signInError.value = '';
  } catch (error) {
    if (isAway(error) || (error instanceof ApiError && error.status === 401)) return;
    signInError.value = messageOf(error);
    session.value = null;
  }
}

/**
 * @param secret an API key, or the token of a sign-in link
 * @returns why it failed; null: signed in
 */
export async function signIn(secret: string): Promise<unknown> {
  signInError.value = '';
  try {
    const headers = { Authorization: `Bearer ${secret}` };
    const response = await fetchApi(addressOf('/v1/session'), { method: 'POST', headers });
    const body = await response.json();
    if (!response.ok) throw problemOf(body, response.status);
    session.value = body as Session;
    return null;
  } catch (error) {
    signInError.value = messageOf(error);
    return error;
  }
}

export async function signOut(): Promise<void> {
  await api.DELETE('/v1/session').catch(() => undefined);
  session.value = null;
}

type Excess = Parameters<typeof t>[1];
/** Largest files, as the service limits them: in the session, in sentences, and as its setting. */
const LIMITS = {
  frame: [
    'frame_bytes',
    (v: Excess) => t('{name} has {size}; a frame may have at most {limit} ({setting}).', v),
    'FRAME_LIMIT',
  ],
  footage: [
    'footage_bytes',
    (v: Excess) => t('{name} has {size}; a recording may have at most {limit} ({setting}).', v),
    'FOOTAGE_LIMIT',
  ],
} as const;

/**
 * @param field that the file is sent in
 * @throws ApiError naming the file, if the service would refuse it for its size
 */
export function assertFits({ name, size }: File, what: keyof typeof LIMITS, field: string): void {
  const [limitName, sentence, setting] = LIMITS[what];
  const limit = session.peek()?.limits[limitName] ?? Number.POSITIVE_INFINITY;
  if (size <= limit) return;
  const values = { name, size: shownSize(size), limit: shownSize(limit), setting };
  throw new ApiError(413, sentence(values), field);
}
