/**
 * Secrets of an endpoint: its address, its login, and the keys of its signatures, of which two are valid in a rotation.
 */
import { openSealed, sealText } from '../secrets/seal.js';
import type { FormatName } from './limits.js';

/** A key of Standard Webhooks, valid until `expiresAt` (epoch ms; null: without a limit). */
interface SigningSecret {
  /** 'whsec_...' */
  readonly secret: string;
  readonly expiresAt: number | null;
}

export interface EndpointSecrets {
  readonly url: string;
  readonly authorization: string | null;
  /** the newest first */
  readonly signing: readonly SigningSecret[];
}

const contextOf = (id: string): string => `endpoint/${id}`;

export const sealSecrets = (id: string, secrets: EndpointSecrets, key: Buffer): string =>
  sealText(JSON.stringify(secrets), key, contextOf(id));

/** @throws Error if they were sealed with another key */
export const openSecrets = (id: string, sealed: string, key: Buffer): EndpointSecrets =>
  JSON.parse(openSealed(sealed, key, contextOf(id)));

/** @returns the secrets that sign a request at `now` (epoch ms), the newest first */
export const validSecrets = ({ signing }: EndpointSecrets, now: number): string[] =>
  signing.filter(({ expiresAt }) => expiresAt === null || expiresAt > now).map(({ secret }) => secret);

/**
 * @param options.secret the new one
 * @param options.previousValidMs how long the newest of the earlier ones stays valid; older ones end at once
 */
export function rotated(
  secrets: EndpointSecrets,
  { secret, previousValidMs, now }: { secret: string; previousValidMs: number; now: number },
): EndpointSecrets {
  const [previous] = secrets.signing;
  const kept =
    previous === undefined || previousValidMs === 0 ? [] : [{ ...previous, expiresAt: now + previousValidMs }];
  return { ...secrets, signing: [{ secret, expiresAt: null }, ...kept] };
}

/** Shown in place of a secret, and of a path that is one, as with Slack and ntfy. */
export const HIDDEN = '/...';

/** Formats whose address has a secret in its path. */
const SECRET_PATHS: readonly FormatName[] = ['slack', 'ntfy', 'teams', 'telegram'];

/** @returns the address as answers and logs show it: without query, and without a path that is a secret */
export const shownUrl = (url: string, format: FormatName): string =>
  originOf(url) + (SECRET_PATHS.includes(format) ? HIDDEN : new URL(url).pathname);

/** @returns scheme, host and port; `origin` has none for the schemes of mail */
export const originOf = (url: string): string => {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
};
