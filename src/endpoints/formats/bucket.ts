/** A bucket of S3, or of a service that speaks its protocol: evidence packages are put into it as objects. */
import type { EndpointMessage, Format } from '../message.js';

/** A login that each request is signed with: for S3 itself, or for Google Cloud Storage. */
export const BUCKET_LOGIN = /^(?:aws-sigv4 \S+:s3|google-service-account \S+)$/;

/**
 * @param url of the bucket, or of a prefix in it, without a query
 * @param name of the object, of characters that a path has as they are
 */
export function objectUrl(url: string, name: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/*$/, '/')}${name}`;
}

export const bucket: Format = (message, { url }) => ({
  url: objectUrl(url, nameOf(message)),
  method: 'PUT',
  headers: { 'content-type': message.file === undefined ? 'application/json' : 'application/zip' },
  body: message.file ?? Buffer.from(JSON.stringify(message.payload)),
});

const nameOf = ({ id, payload: { data } }: EndpointMessage): string =>
  data.package?.name ?? `scenedelta-test-${id}.json`;
