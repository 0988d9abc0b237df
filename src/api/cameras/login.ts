/** The login of a camera's snapshot address: taken out of the settings of a request, encrypted, kept by the next. */
import { invalidValue } from '../../base/errors.js';
import type { StoredCamera } from '../../camera/settings/camera.js';
import type { CameraSettings } from '../../camera/settings/settings.js';
import { type Login, loginContext, openLogin, sealLogin } from '../../secrets/login.js';

/**
 * @param earlier the camera before this request, whose login stays if the request has no password
 * @returns the settings without user name and password, also not in the address; the encrypted login, if there is one
 * @throws ScenedeltaError 'invalid-request' naming the missing part. A login is never sent to an origin that it was not
 * given for: another origin needs the password once more.
 */
export function withoutLogin<S extends Pick<CameraSettings, 'snapshot'>>(
  id: string,
  settings: S,
  earlier: Pick<StoredCamera, 'settings' | 'login'> | undefined,
  key: Buffer,
): { settings: S; login?: string } {
  if (settings.snapshot === null) return { settings };
  const { username, password, ...rest } = settings.snapshot;
  const inUrl = userOf(rest.url);
  if (inUrl !== null && (username !== undefined || password !== undefined)) {
    throw refused('snapshot/url', 'has a user name beside snapshot/username, expected one of the two');
  }
  const snapshot = inUrl === null ? rest : { ...rest, url: inUrl.url };
  const stored = { ...settings, snapshot };
  const given = inUrl ?? { username, password };
  // An address that cannot be parsed is refused by the checks that follow.
  if (given.username === '' || !URL.canParse(snapshot.url)) return { settings: stored };

  const context = loginContext(id, snapshot.url);
  if (given.username !== undefined && given.password !== undefined) {
    const login = sealLogin({ username: given.username, password: given.password }, key, context);
    return { settings: stored, login };
  }
  const before = earlier?.login;
  if (before === undefined) {
    if (given.username === undefined && given.password === undefined) return { settings: stored };
    const missing = given.username === undefined ? 'username' : 'password';
    throw refused(`snapshot/${missing}`, 'is missing, expected both parts of the login, or none');
  }
  const earlierUrl = earlier?.settings.snapshot?.url ?? '';
  if (loginContext(id, earlierUrl) !== context) {
    const missing = given.password === undefined ? 'password' : 'username';
    throw refused(
      `snapshot/${missing}`,
      'is not given, but the address has another origin: expected user name and password once more, ' +
        'or an empty user name for no login',
    );
  }
  return { settings: stored, login: changed(before, given, key, context) };
}

/** @returns the earlier login with the given part instead of its own */
function changed(
  before: string,
  given: { readonly username?: string | undefined; readonly password?: string | undefined },
  key: Buffer,
  context: string,
): string {
  if (given.username === undefined && given.password === undefined) return before;
  const login = openLogin(before, key, context);
  if (given.password === undefined) {
    if (given.username === login.username) return before;
    throw refused('snapshot/password', 'is missing, expected the password of this user name');
  }
  return sealLogin({ username: login.username, password: given.password }, key, context);
}

/** @returns the login in an address, and the address without it; null if it has none */
function userOf(text: string): (Login & { url: string }) | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const [username, password] = [decoded(url.username), decoded(url.password)];
  if (username === '' && password === '') return null;
  url.username = '';
  url.password = '';
  return { username, password, url: url.href };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const refused = (field: string, what: string) => invalidValue(`${field} ${what}`, field);
