/** Keys of objects in S3, as URLs name them. */

/**
 * Whether a URL can name the key: URLs normalise segments "." and ".." and drop empty ones, and so name another object.
 */
export const isPlainKey = (key: string): boolean =>
  key.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');
