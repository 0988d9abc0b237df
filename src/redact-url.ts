/** URLs as messages and logs may quote them: without the password of a camera or the token of a receiver. */

/** With a scheme: up to the '@' before the host; `admin:8/x@host`, which is no URL, is one that somebody meant as such. */
const USER_OF_URL = /^([a-z][a-z0-9+.-]*:)?\/\/(?:[^/?#]*@|[^/?#:@]*:(?!\d+(?:[/?#]|$)).*@)/i;
const USER_OF_OTHER = /^[^\s/@:]*:[^\s@]*@/;

/** Of an address that has been checked: scheme, host, port and path. */
export function originAndPath(address: string | URL): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

/** @param text what should be a URL and perhaps is not; what does not look like one comes back as it is. */
export function withoutSecrets(text: string): string {
  const isUrl = /^([a-z][a-z0-9+.-]*:)?\/\//i.test(text.trim());
  if (!isUrl) return text.replace(USER_OF_OTHER, '');
  return text
    .trim()
    .replace(USER_OF_URL, '$1//')
    .replace(/[?#].*$/s, '?...');
}
