/** Redirects of cameras: those that are followed lead to the same origin, or from http to https of the same host. */
import type { Login } from '../secrets/login.js';
import type { CameraAnswer } from './camera-http.js';

/** @returns the address of a redirect */
function locationOf({ status, fields }: CameraAnswer, url: URL): URL | undefined {
  const location = fields.get('location')?.at(-1);
  if (status < 300 || status > 399 || location === undefined || !URL.canParse(location, url.href)) return undefined;
  const to = new URL(location, url.href);
  return to.username === '' && to.password === '' ? to : undefined;
}

/** @returns whether an answer redirects from http to https of the same host */
export function isUpgrade(answer: CameraAnswer, url: URL): boolean {
  const to = locationOf(answer, url);
  return url.protocol === 'http:' && to?.protocol === 'https:' && to.hostname === url.hostname;
}

/** @returns the address of a redirect that is followed; undefined if the answer is no redirect */
export function followed(answer: CameraAnswer, url: URL, login: Login | undefined): URL | undefined {
  const to = locationOf(answer, url);
  return to?.origin === url.origin || (login === undefined && isUpgrade(answer, url)) ? to : undefined;
}

/** Some cameras give out their picture only to a session that a redirect has begun. */
export const cookieOf = ({ fields }: CameraAnswer): string =>
  (fields.get('set-cookie') ?? []).map((value) => value.split(';', 1)[0]?.trim()).join('; ');
