/** Redaction of URLs for messages and logs: the password of a camera and the token of a receiver are removed. */

/** User part of a URL, up to the '@' before the host; also of `admin:8/x@host`, a malformed URL with a password. */
const USER_OF_URL = /^([a-z][a-z0-9+.-]*:)?\/\/(?:[^/?#]*@|[^/?#:@]*:(?!\d+(?:[/?#]|$)).*@)/i;
const USER_OF_OTHER = /^[^\s/@:]*:[^\s@]*@/;
/** Recorders with addresses such as rtsp://10.0.0.8/user=admin&password=x&channel=1.sdp are common. */
const PASSWORD_IN_PATH = /(pass(?:word|wd)?|pwd)=[^/?#&;,]*/gi;

/** @returns scheme, host, port and path of a valid URL, without passwords in the path */
export function originAndPath(address: string | URL): string {
  // `origin` is 'null' for schemes such as rtsp.
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname.replace(PASSWORD_IN_PATH, '$1=...')}`;
}

/**
 * @param text a URL, possibly malformed; other text is returned unchanged
 * @returns the text without user, password and query
 */
export function withoutSecrets(text: string): string {
  const isUrl = /^([a-z][a-z0-9+.-]*:)?\/\//i.test(text.trim());
  if (!isUrl) return text.replace(USER_OF_OTHER, '');
  return text
    .trim()
    .replace(USER_OF_URL, '$1//')
    .replace(PASSWORD_IN_PATH, '$1=...')
    .replace(/[?#].*$/s, '?...');
}
