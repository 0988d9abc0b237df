/**
 * Signed links to frames and heatmaps. They open without an API key until they expire, for receivers of webhooks and
 * for pictures in a page, neither of which sends headers. The signature covers path and expiry, not the rest of the
 * query, so that the holder of a heatmap link may also request another style or word. Pure; shared by workers and API.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { invalidRequest } from '../base/errors.js';
import { SIDES, type Side } from '../base/images.js';

export const framePath = (comparisonId: string, side: Side): string => `/v1/comparisons/${comparisonId}/frames/${side}`;
export const changePicturePath = (changeId: string): string => `/v1/changes/${changeId}/picture`;
export const heatmapPath = (comparisonId: string, side: Side): string =>
  `/v1/comparisons/${comparisonId}/heatmaps/${side}`;

/**
 * The base of every link: PUBLIC_URL, or the address that the API listens on. Without a trailing slash.
 * @param settings of the API; with PORT=0 (any free port) only the API itself knows its port
 * @throws ScenedeltaError 'invalid-request' if PORT is 0 and PUBLIC_URL is not set
 */
export function publicBaseUrl(settings: { publicUrl: string | null; host: string; port: number }): string {
  const { publicUrl, host, port } = settings;
  if (publicUrl !== null) return publicUrl.replace(/\/+$/, '');
  if (port !== 0) return httpAddress(host, port);
  throw invalidRequest(
    'PORT=0 lets the API take any free port, and links in webhooks would not know it: expected PUBLIC_URL or the port',
  );
}

/** @param host a name or an address; IPv6 gets its brackets */
export const httpAddress = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The key for links differs from the one for webhooks, so that a link's signature is never valid for a webhook. */
export const linkKey = (webhookSecret: string): Buffer =>
  createHmac('sha256', webhookSecret).update('scenedelta/links/1').digest();

/**
 * @param options.expiresAt epoch ms; rounded up to a second
 * @returns `path` with `exp` (epoch seconds) and `sig` (base64url)
 */
export function signLink(path: string, options: { key: Buffer; expiresAt: number }): string {
  const exp = Math.ceil(options.expiresAt / 1000);
  return `${path}?exp=${exp}&sig=${signature(path, String(exp), options.key)}`;
}

/**
 * @param path without its query
 * @returns whether signLink made `given` for this path with this key, and it has not expired at `now` (epoch ms)
 */
export function verifyLink(
  path: string,
  given: { readonly sig: string; readonly exp: string },
  options: { key: Buffer; now: number },
): boolean {
  // Compared as text: the last character of base64 has unused bits, so four texts decode to the same bytes.
  const expected = Buffer.from(signature(path, given.exp, options.key));
  const actual = Buffer.from(given.sig);
  const genuine = actual.length === expected.length && timingSafeEqual(actual, expected);
  return genuine && Number(given.exp) * 1000 > options.now;
}

const signature = (path: string, exp: string, key: Buffer): string =>
  createHmac('sha256', key).update(`${path}\n${exp}`).digest('base64url');

export interface LinkSettings {
  /** e.g. 'https://cameras.example', without a trailing slash */
  readonly baseUrl: string;
  readonly key: Buffer;
  /** retention of the pictures after the end of the comparison; links expire with it */
  readonly framesMs: number;
  readonly heatmapsMs: number;
}

/** By the side of the frame; absent: there are none. */
export interface PictureLinks {
  readonly frames?: LinksBySide;
  readonly heatmaps?: LinksBySide;
  /** of a change: its outline, and a crop of the thing */
  readonly picture?: { readonly url: string };
}
type LinksBySide = Readonly<Record<Side, { readonly url: string }>>;

/**
 * Links to the pictures of a comparison that expire when the pictures do.
 * @param picture.outlined whether it has maps
 * @param picture.sides the frames that it has; absent: both
 * @param picture.change whose picture it is; absent: none
 * @param keptSince end of the comparison, epoch ms
 */
export function pictureLinks(
  {
    comparison,
    outlined,
    sides = SIDES,
    change,
  }: { comparison: string; outlined: boolean; sides?: readonly Side[]; change?: string | undefined },
  keptSince: number,
  { baseUrl, key, framesMs, heatmapsMs }: LinkSettings,
): PictureLinks {
  const pictureOf = (id: string | undefined) =>
    id === undefined
      ? {}
      : { picture: { url: baseUrl + signLink(changePicturePath(id), { key, expiresAt: keptSince + framesMs }) } };
  const linksOf = (pathOf: typeof framePath, lifetimeMs: number, shown: readonly Side[]) => {
    const expiresAt = keptSince + lifetimeMs;
    const link = (side: Side) => ({ url: baseUrl + signLink(pathOf(comparison, side), { key, expiresAt }) });
    return Object.fromEntries(shown.map((side) => [side, link(side)])) as LinksBySide;
  };
  const frames = framesMs === 0 ? {} : { frames: linksOf(framePath, framesMs, sides), ...pictureOf(change) };
  return outlined && heatmapsMs > 0 ? { ...frames, heatmaps: linksOf(heatmapPath, heatmapsMs, SIDES) } : frames;
}
