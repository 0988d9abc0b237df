/**
 * Secrets of an endpoint: its address, its login, and the keys of its signatures, of which two are valid in a rotation.
 */
import { openSealed, sealText } from '../secrets/seal.js';

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

/** Shown instead of a secret, and of a path, which is one with many receivers, whatever the format. */
export const HIDDEN = '/...';

/** @returns the address as answers and logs show it: scheme, host and port, and whether there is more */
export const shownUrl = (url: string): string => originOf(url) + (new URL(url).pathname.length > 1 ? HIDDEN : '');

/** @returns scheme, host and port; `origin` has none for the schemes of mail */
export const originOf = (url: string): string => {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
};
