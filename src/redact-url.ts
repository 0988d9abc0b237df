/** Redaction of URLs for messages and logs: the password of a camera and the token of a receiver are removed. */

/** User part of a URL, up to the '@' before the host; also of `admin:8/x@host`, a malformed URL with a password. */
const USER_OF_URL = /^([a-z][a-z0-9+.-]*:)?\/\/(?:[^/?#]*@|[^/?#:@]*:(?!\d+(?:[/?#]|$)).*@)/i;
const USER_OF_OTHER = /^[^\s/@:]*:[^\s@]*@/;

/** @returns scheme, host, port and path of a valid URL */
export function originAndPath(address: string | URL): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
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
    .replace(/[?#].*$/s, '?...');
}
