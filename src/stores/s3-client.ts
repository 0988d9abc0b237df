/** S3 client: reads, writes, deletes and lists objects. Signed with AWS Signature Version 4, addressed path-style. */
import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import { XMLParser } from 'fast-xml-parser';
import type { Config } from '../config.js';
import { startDeadline } from '../deadline.js';
import { invalidRequest, ScenedeltaError } from '../errors.js';
import { createHttpClient, drop, type HttpAnswer, readUpTo } from '../http-exchange.js';

interface S3Object {
  readonly key: string;
  /** epoch ms */
  readonly lastModified: number;
}
export interface S3Client {
  /**
   * @returns undefined if the bucket or key does not exist.
   * @throws ScenedeltaError 'payload-too-large' above `maxBytes`; 'forbidden' if the credentials may not read the
   *   object or
   *   no URL can name it; 'storage-unavailable' for any other failure.
   */
  get(
    bucket: string,
    key: string,
    options?: { maxBytes?: number; signal?: AbortSignal },
  ): Promise<Uint8Array | undefined>;
  /**
   * Reads a part of an object of any size, each under a deadline of its own.
   * @returns the bytes from `from` on, at most `length`, and the size of the object; undefined if it does not exist.
   * @throws ScenedeltaError 'forbidden', 'storage-unavailable'
   */
  getPart(
    bucket: string,
    key: string,
    part: { readonly from: number; readonly length: number; readonly signal?: AbortSignal },
  ): Promise<{ readonly bytes: Uint8Array; readonly size: number } | undefined>;
  put(bucket: string, key: string, bytes: Uint8Array): Promise<void>;
  delete(bucket: string, key: string): Promise<void>;
  /** All objects whose keys begin with `prefix`, in pages of the service. */
  list(bucket: string, prefix: string): AsyncGenerator<S3Object>;
  close(): Promise<void>;
}

type S3Config = Pick<Config, 's3Endpoint' | 's3Region' | 's3AccessKeyId' | 's3SecretAccessKey' | 'outboundTimeoutMs'>;
/** Largest listing in bytes. A page has at most 1000 keys of at most 1 KiB. */
const LIST_LIMIT = 8 * 1024 * 1024;

/**
 * The operator chooses the endpoint, so it may be private: the outbound guard for clients' URLs does not apply.
 * @returns undefined if S3_ENDPOINT is not set.
 * @throws ScenedeltaError 'invalid-request' if it is set, but a credential is missing.
 */
export function createS3Client(config: S3Config): S3Client | undefined {
  const { s3Endpoint, s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config;
  if (s3Endpoint === null) return undefined;
  if (accessKeyId === null || secretAccessKey === null) {
    throw invalidRequest(
      'S3_ENDPOINT is set: expected S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY beside it',
      'S3_ENDPOINT',
    );
  }
  const endpoint = s3Endpoint.replace(/\/+$/, '');
  const client = createHttpClient({ idleMs: config.outboundTimeoutMs });
  const signingKeys = new Map<string, ArrayBuffer>();

  /** One request and the reading of its answer, under one deadline. */
  const exchange = <T>(
    method: string,
    path: string,
    { body, signal, range }: { body?: Uint8Array; signal?: AbortSignal | undefined; range?: string },
    read: (response: HttpAnswer) => Promise<T>,
  ): Promise<T> =>
    s3Call(method, async () => {
      const deadline = startDeadline(config.outboundTimeoutMs, signal);
      try {
        const signer = new AwsV4Signer({
          method,
          url: `${endpoint}${path}`,
          headers: {
            'x-amz-content-sha256': createHash('sha256')
              .update(body ?? '')
              .digest('hex'),
          },
          accessKeyId,
          secretAccessKey,
          service: 's3',
          region: config.s3Region,
          cache: signingKeys,
        });
        const { url, headers } = await signer.sign();
        const response = await client.request(url, {
          method,
          headers: { ...Object.fromEntries(headers), ...(range === undefined ? {} : { range }) },
          signal: deadline.signal,
          ...(body === undefined ? {} : { body }),
        });
        return await read(response);
      } finally {
        deadline.end();
      }
    });

  return {
    get: async (bucket, key, { maxBytes = Number.POSITIVE_INFINITY, signal } = {}) => {
      assertPlainKey(bucket, key);
      return exchange('GET', pathOf(bucket, key), { signal }, async (response) => {
        if (await isMissing(response, bucket, key)) return undefined;
        await expectStatus(response, 'GET', 200);
        return readBody(response, maxBytes, `s3://${bucket}/${key}`);
      });
    },
    getPart: async (bucket, key, { from, length, signal }) => {
      assertPlainKey(bucket, key);
      const range = `bytes=${from}-${from + length - 1}`;
      return exchange('GET', pathOf(bucket, key), { signal, range }, async (response) => {
        if (await isMissing(response, bucket, key)) return undefined;
        await expectStatus(response, 'GET', 206);
        const size = Number(/\/(\d+)$/.exec(String(response.headers['content-range']))?.[1] ?? Number.NaN);
        return { bytes: await readBody(response, length, `s3://${bucket}/${key}`), size };
      });
    },
    put: (bucket, key, bytes) =>
      exchange('PUT', pathOf(bucket, key), { body: bytes }, async (response) => {
        await expectStatus(response, 'PUT', 200, 201, 204);
        await drop(response);
      }),
    delete: (bucket, key) =>
      exchange('DELETE', pathOf(bucket, key), {}, async (response) => {
        await expectStatus(response, 'DELETE', 200, 204, 404);
        await drop(response);
      }),
    async *list(bucket, prefix) {
      let continuation: string | undefined;
      do {
        const query = new URLSearchParams({ 'list-type': '2', prefix });
        if (continuation !== undefined) query.set('continuation-token', continuation);
        // URLSearchParams writes a space as '+'; every S3 service signs %20 alike.
        const path = `/${bucket}?${query.toString().replaceAll('+', '%20')}`;
        const page = await exchange('GET', path, {}, async (response) => {
          await expectListing(response, `s3://${bucket}/${prefix}`);
          return listingOf(await readBody(response, LIST_LIMIT, 'listing'));
        });
        yield* page.objects;
        continuation = page.continuation;
      } while (continuation !== undefined);
    },
    close: async () => client.close(),
  };
}

/**
 * Whether a URL can name the key: URLs normalise segments "." and ".." and drop empty ones, and so name another object.
 */
export const isPlainKey = (key: string): boolean =>
  key.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');

/** @returns /bucket/key, with each segment percent-encoded by RFC 3986. */
const pathOf = (bucket: string, key: string): string =>
  `/${[bucket, ...key.split('/')].map((segment) => encodeURIComponent(segment).replace(/[!'()*]/g, hex)).join('/')}`;
const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** @throws ScenedeltaError 'forbidden' if no URL can name the key */
function assertPlainKey(bucket: string, key: string): void {
  if (isPlainKey(key)) return;
  throw new ScenedeltaError('forbidden', `s3://${bucket}/${key} has an empty, "." or ".." segment`);
}

/** @throws ScenedeltaError 'forbidden' if the credentials may not read the object */
async function isMissing(response: HttpAnswer, bucket: string, key: string): Promise<boolean> {
  if (response.status !== 404 && response.status !== 403) return false;
  await drop(response);
  if (response.status === 404) return true;
  throw new ScenedeltaError('forbidden', `the S3 service refuses to read s3://${bucket}/${key} (403)`);
}

async function expectStatus(response: HttpAnswer, what: string, ...expected: number[]): Promise<void> {
  if (expected.includes(response.status)) return;
  await drop(response);
  throw new ScenedeltaError('storage-unavailable', `the S3 service answered ${what} with ${response.status}`);
}

/** @throws ScenedeltaError 'url-failed' (permanent: 403, 404) or 'storage-unavailable', which name the bucket */
async function expectListing(response: HttpAnswer, address: string): Promise<void> {
  const { status } = response;
  if (status === 200) return;
  await drop(response);
  const why =
    status === 404
      ? 'the bucket does not exist'
      : status === 403
        ? 'S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are wrong, or may not list it'
        : `the S3 service answered LIST with ${status}`;
  const isPermanent = status === 403 || status === 404;
  throw new ScenedeltaError(isPermanent ? 'url-failed' : 'storage-unavailable', `${address} cannot be listed: ${why}`);
}

async function readBody(response: HttpAnswer, maxBytes: number, what: string): Promise<Uint8Array> {
  const bytes = await readUpTo(response, maxBytes);
  if (bytes === undefined) throw new ScenedeltaError('payload-too-large', `${what} has more than ${maxBytes} bytes`);
  return bytes;
}

async function s3Call<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (thrown) {
    if (thrown instanceof ScenedeltaError) throw thrown;
    throw new ScenedeltaError('storage-unavailable', `${what}: the S3 service cannot be reached`, {
      cause: thrown,
    });
  }
}

const xml = new XMLParser({ parseTagValue: false, isArray: (name) => name === 'Contents' });

/** @returns the objects of one page of ListObjectsV2, and the token of the next page. */
function listingOf(body: Uint8Array): { objects: S3Object[]; continuation: string | undefined } {
  const { ListBucketResult } = xml.parse(new TextDecoder().decode(body));
  const { Contents = [], NextContinuationToken } = ListBucketResult || {};
  const objects = Contents.map(({ Key = '', LastModified = '' }) => ({
    key: String(Key),
    lastModified: Date.parse(LastModified),
  })).filter(({ key, lastModified }: S3Object) => key !== '' && !Number.isNaN(lastModified));
  return { objects, continuation: NextContinuationToken || undefined };
}
