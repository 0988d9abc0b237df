/**
 * S3 client: reads, writes, deletes and lists objects. Signed with AWS Signature Version 4, addressed path-style. Each
 * error names the bucket and the endpoint: 'url-failed' if the service refuses for good, else 'url-unavailable'.
 */
import { createHash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import { startDeadline } from '../../base/deadline.js';
import { invalidRequest, ScenedeltaError, urlFailed } from '../../base/errors.js';
import type { Config } from '../../process/config.js';
import { createHttpClient, drop, type HttpAnswer, readUpTo } from '../../process/http-exchange.js';
import type { ProxyOf } from '../../process/proxies.js';
import { isPlainKey } from './s3-key.js';

interface S3Object {
  readonly key: string;
  /** epoch ms */
  readonly lastModified: number;
}
export type S3Client = NonNullable<ReturnType<typeof createS3Client>>;

type S3Config = Pick<Config, 's3Endpoint' | 's3Region' | 's3AccessKeyId' | 's3SecretAccessKey' | 'outboundTimeoutMs'>;
/** Largest listing in bytes. A page has at most 1000 keys of at most 1 KiB. */
const LIST_LIMIT = 8 * 1024 * 1024;
const ERROR_LIMIT = 64 * 1024;
const OF_REGIONS = ['PermanentRedirect', 'TemporaryRedirect', 'AuthorizationHeaderMalformed'];
const OF_CREDENTIALS = ['InvalidAccessKeyId', 'SignatureDoesNotMatch'];
/** Tasks whose 404 means the object: the bucket has a code of its own. */
const OBJECT_TASKS = ['read', 'deleted'];

interface S3Request {
  /** participle that an error names */
  readonly task: string;
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  /** absent: that of the object */
  readonly path?: string;
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal | undefined;
  readonly range?: string;
  /** statuses of success */
  readonly expected?: readonly number[];
}

/**
 * The operator chooses the endpoint, so it may be private: the outbound guard for clients' URLs does not apply.
 * @param proxyOf absent: no proxies
 * @returns undefined if S3_ENDPOINT is not set.
 * @throws ScenedeltaError 'invalid-request' if it is set, but a credential is missing.
 */
export function createS3Client(config: S3Config, proxyOf?: ProxyOf) {
  const { s3Endpoint, s3AccessKeyId: accessKeyId, s3SecretAccessKey: secretAccessKey } = config;
  if (s3Endpoint === null) return undefined;
  if (accessKeyId === null || secretAccessKey === null) {
    throw invalidRequest(
      'S3_ENDPOINT is set: expected S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY beside it',
      'S3_ENDPOINT',
    );
  }
  const endpoint = s3Endpoint.replace(/\/+$/, '');
  const client = createHttpClient({ idleMs: config.outboundTimeoutMs, proxyOf });
  const signingKeys = new Map<string, ArrayBuffer>();

  /** One request and the reading of its answer, under one deadline. @returns undefined if there is no such object */
  const exchange = async <T>(
    { task, method, bucket, key, path = pathOf(bucket, key), body, signal, range, expected = [200] }: S3Request,
    read: (response: HttpAnswer) => Promise<T>,
  ): Promise<T | undefined> => {
    const object = `s3://${bucket}/${key} at ${new URL(endpoint).origin} cannot be ${task}`;
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
      if (expected.includes(response.status)) return await read(response);
      const code = await codeOf(response);
      if (response.status === 404 && OBJECT_TASKS.includes(task) && code !== 'NoSuchBucket') return undefined;
      throw refusalOf(response.status, code, object);
    } catch (thrown) {
      if (thrown instanceof ScenedeltaError) throw thrown;
      throw new ScenedeltaError('url-unavailable', `${object}: S3_ENDPOINT cannot be reached`, { cause: thrown });
    } finally {
      deadline.end();
    }
  };

  return {
    /**
     * @returns undefined if the bucket has no such key
     * @throws ScenedeltaError 'payload-too-large' above `maxBytes`; 'url-failed' (no such bucket, refused credentials,
     *   or a key that no URL can name), 'url-unavailable'
     */
    get: async (
      bucket: string,
      key: string,
      { maxBytes = Number.POSITIVE_INFINITY, signal }: { maxBytes?: number; signal?: AbortSignal } = {},
    ): Promise<Uint8Array | undefined> => {
      assertPlainKey(bucket, key);
      return exchange({ task: 'read', method: 'GET', bucket, key, signal }, (response) =>
        readBody(response, maxBytes, `s3://${bucket}/${key}`),
      );
    },
    /**
     * Reads a part of an object of any size, each under a deadline of its own.
     * @returns the bytes from `from` on, at most `length`, and the size of the object; undefined if it does not exist.
     * @throws ScenedeltaError 'url-failed', 'url-unavailable'
     */
    getPart: async (
      bucket: string,
      key: string,
      { from, length, signal }: { from: number; length: number; signal?: AbortSignal },
    ): Promise<{ readonly bytes: Uint8Array; readonly size: number } | undefined> => {
      assertPlainKey(bucket, key);
      const range = `bytes=${from}-${from + length - 1}`;
      const request = { task: 'read', method: 'GET', bucket, key, signal, range, expected: [206] } as const;
      return exchange(request, async (response) => {
        const size = Number(/\/(\d+)$/.exec(String(response.headers['content-range']))?.[1] ?? Number.NaN);
        return { bytes: await readBody(response, length, `s3://${bucket}/${key}`), size };
      });
    },
    put: (bucket: string, key: string, body: Uint8Array): Promise<void> =>
      exchange({ task: 'written', method: 'PUT', bucket, key, body, expected: [200, 201, 204] }, drop),
    delete: (bucket: string, key: string): Promise<void> =>
      exchange({ task: 'deleted', method: 'DELETE', bucket, key, expected: [200, 204] }, drop),
    /** All objects whose keys begin with `prefix`, in pages of the service. */
    async *list(bucket: string, prefix: string): AsyncGenerator<S3Object> {
      let continuation: string | undefined;
      do {
        const query = new URLSearchParams({ 'list-type': '2', prefix });
        if (continuation !== undefined) query.set('continuation-token', continuation);
        // URLSearchParams writes a space as '+'; every S3 service signs %20 alike.
        const path = `/${bucket}?${query.toString().replaceAll('+', '%20')}`;
        const page = await exchange({ task: 'listed', method: 'GET', bucket, key: prefix, path }, async (response) =>
          listingOf(await readBody(response, LIST_LIMIT, 'listing')),
        );
        yield* page?.objects ?? [];
        continuation = page?.continuation;
      } while (continuation !== undefined);
    },
    close: async () => client.close(),
  };
}

/** @returns /bucket/key, with each segment percent-encoded by RFC 3986. */
const pathOf = (bucket: string, key: string): string =>
  `/${[bucket, ...key.split('/')].map((segment) => encodeURIComponent(segment).replace(/[!'()*]/g, hex)).join('/')}`;
const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** @throws ScenedeltaError 'url-failed' if no URL can name the key */
function assertPlainKey(bucket: string, key: string): void {
  if (!isPlainKey(key)) throw urlFailed(`s3://${bucket}/${key} has an empty, "." or ".." segment`);
}

/** @returns '' if the answer states none; its other words stay there */
async function codeOf(response: HttpAnswer): Promise<string> {
  const body = new TextDecoder().decode(await readUpTo(response, ERROR_LIMIT));
  return /<Code>(\w{1,64})<\/Code>/.exec(body)?.[1] ?? '';
}

/** @param code of https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html */
function refusalOf(status: number, code: string, object: string): ScenedeltaError {
  const answer = `${object} (${[status, code].join(' ').trim()})`;
  if (status === 404)
    return urlFailed(`${answer}: S3_ENDPOINT has no such bucket, expected the name of one that it has`);
  if (OF_REGIONS.includes(code)) return urlFailed(`${answer}: expected the S3_ENDPOINT and S3_REGION of the bucket`);
  if (status === 401 || status === 403) {
    const may = OF_CREDENTIALS.includes(code) ? '' : ', or may not do it';
    return urlFailed(`${answer}: S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY are wrong${may}`);
  }
  return new ScenedeltaError('url-unavailable', `${answer}: S3_ENDPOINT has a fault`);
}

async function readBody(response: HttpAnswer, maxBytes: number, what: string): Promise<Uint8Array> {
  const bytes = await readUpTo(response, maxBytes);
  if (bytes === undefined) throw new ScenedeltaError('payload-too-large', `${what} has more than ${maxBytes} bytes`);
  return bytes;
}

/** @returns the objects of one page of ListObjectsV2, and the token of the next page. */
async function listingOf(body: Uint8Array): Promise<{ objects: S3Object[]; continuation: string | undefined }> {
  // Loaded by those who list: the package has 40 files, and most processes have no object store.
  const { XMLParser } = await import('fast-xml-parser');
  const xml = new XMLParser({ parseTagValue: false, isArray: (name) => name === 'Contents' });
  const { ListBucketResult } = xml.parse(new TextDecoder().decode(body));
  const { Contents = [], NextContinuationToken } = ListBucketResult || {};
  const objects = Contents.map(({ Key = '', LastModified = '' }) => ({
    key: String(Key),
    lastModified: Date.parse(LastModified),
  })).filter(({ key, lastModified }: S3Object) => key !== '' && !Number.isNaN(lastModified));
  return { objects, continuation: NextContinuationToken || undefined };
}
