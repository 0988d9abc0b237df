/**
 * Links to frames and heatmaps that open without an API key until they expire: for receivers of webhooks and for pictures
 * in a page, neither of which sends headers. The signature covers the path and the expiry, not the query beside them, so that
 * the holder of a heatmap's link may also ask for another style or word of the same heatmap. Pure; workers and API share it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { ScenedeltaError } from './errors.js';
import type { Side } from './images.js';

export const framePath = (comparisonId: string, side: Side): string =>
  `/v1/comparisons/${comparisonId}/frames/${side}`;
export const heatmapPath = (comparisonId: string, side: Side): string =>
  `/v1/comparisons/${comparisonId}/heatmaps/${side}`;

/**
 * What every link begins with: PUBLIC_URL, or the address that the API listens on. Without a slash at the end.
 * @param settings of the API; where its PORT is 0 (any free one), only the API itself knows the port that it got
 * @throws ScenedeltaError 'invalid-request' where PORT is 0 and PUBLIC_URL does not say where links lead
 */
export function publicBaseUrl(settings: { publicUrl: string | null; host: string; port: number }): string {
  const { publicUrl, host, port } = settings;
  if (publicUrl !== null) return publicUrl.replace(/\/+$/, '');
  if (port !== 0) return httpAddress(host, port);
  throw new ScenedeltaError(
    'invalid-request',
    'PORT=0 lets the API take any free port, and links in webhooks would not know it: expected PUBLIC_URL or the port',
  );
}

/** @param host a name or an address; IPv6 gets its brackets */
export const httpAddress = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** A key of its own, so that a link's signature can never pass for a webhook's. */
export const linkKey = (webhookSecret: string): Buffer =>
  createHmac('sha256', webhookSecret).update('scenedelta/links/1').digest();

/** @param expiresAt epoch ms; rounded up to a second. @returns `path` with `exp` (epoch seconds) and `sig` (base64url). */
export function signLink(path: string, options: { key: Buffer; expiresAt: number }): string {
  const exp = Math.ceil(options.expiresAt / 1000);
  return `${path}?exp=${exp}&sig=${signature(path, String(exp), options.key)}`;
}

/**
 * @param path without its query
 * @returns whether `given` was made by signLink for this path with this key and has not expired at `now` (epoch ms).
 */
export function verifyLink(
  path: string,
  given: { readonly sig: string; readonly exp: string },
  options: { key: Buffer; now: number },
): boolean {
  // As text, not as the bytes it stands for: the last character of base64 has bits to spare, so four texts stand for the same bytes.
  const expected = Buffer.from(signature(path, given.exp, options.key));
  const actual = Buffer.from(given.sig);
  const genuine = actual.length === expected.length && timingSafeEqual(actual, expected);
  return genuine && Number(given.exp) * 1000 > options.now;
}

const signature = (path: string, exp: string, key: Buffer): string =>
  createHmac('sha256', key).update(`${path}\n${exp}`).digest('base64url');
