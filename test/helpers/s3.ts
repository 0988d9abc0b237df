/** An in-memory S3 server: path-style objects, ListObjectsV2 with pages, and a check of signatures. */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestS3 {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** bucket/key -> object; set `lastModified` to make one old */
  readonly objects: Map<string, { bytes: Buffer; lastModified: number }>;
  /** answers everything with this status and error code from now on; undefined = works again */
  failWith(status: number | undefined, code?: string): void;
  stop(): Promise<void>;
}

/** Headers of newer S3 clients that Google Cloud Storage refuses or does not verify. */
const NOT_OF_GOOGLE = /^x-amz-(?:checksum|sdk-checksum|trailer|decoded-content-length)/;
const secretAccessKey = 'secret/with+signs';
const PAGE = 3;

/**
 * @param port 0: any
 * @param kind google: the S3 API of Google Cloud Storage, with HMAC keys of its form, the region "auto", bodies whose
 *   length is known, and no checksums of newer S3 clients (https://cloud.google.com/storage/docs/interoperability)
 */
export async function startS3(port = 0, kind: 's3' | 'google' = 's3'): Promise<TestS3> {
  const accessKeyId = kind === 's3' ? 'AKIDTEST' : `GOOG1E${'A'.repeat(55)}`;
  const objects: TestS3['objects'] = new Map();
  let failing: { status: number; code: string } | undefined;
  const server = createServer(async (req, res) => {
    const body = await read(req);
    const url = new URL(req.url ?? '/', 'http://s3');
    const [, bucket = '', ...rest] = url.pathname.split('/').map(decodeURIComponent);
    const name = `${bucket}/${rest.join('/')}`;
    const object = objects.get(name);
    if (failing !== undefined) res.writeHead(failing.status).end(`${failing.code}secret words of the server`);
    else if (kind === 'google' && faultOfGoogle(req) !== undefined) {
      res.writeHead(400).end(`<?xml version='1.0' encoding='UTF-8'?><Error><Code>${faultOfGoogle(req)}</Code></Error>`);
    } else if (!signedCorrectly(req, body, accessKeyId))
      res.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
    else if (req.method === 'PUT') {
      objects.set(name, { bytes: body, lastModified: Date.now() });
      res.writeHead(200).end();
    } else if (req.method === 'DELETE') {
      objects.delete(name);
      res.writeHead(204).end();
    } else if (url.searchParams.has('list-type')) res.writeHead(200).end(listing(objects, bucket, url.searchParams));
    else if (object === undefined) res.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    else {
      const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? '') ?? [];
      const { length } = object.bytes;
      if (from === undefined) res.writeHead(200).end(object.bytes);
      else {
        const last = Math.min(Number(to), length - 1);
        res.writeHead(206, { 'content-range': `bytes ${from}-${last}/${length}` });
        res.end(object.bytes.subarray(Number(from), last + 1));
      }
    }
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accessKeyId,
    secretAccessKey,
    objects,
    failWith: (status, code) => {
      failing = status === undefined ? undefined : { status, code: code === undefined ? '' : `<Code>${code}</Code>` };
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function faultOfGoogle({ method, headers }: IncomingMessage): string | undefined {
  if (Object.keys(headers).some((name) => NOT_OF_GOOGLE.test(name))) return 'ExcessHeaderValues';
  if (/aws-chunked/.test(headers['content-encoding'] ?? '')) return 'InvalidArgument';
  if (method === 'PUT' && headers['content-length'] === undefined) return 'MissingContentLength';
  return /\/auto\/s3\/aws4_request,/.test(headers.authorization ?? '') ? undefined : 'AuthorizationHeaderMalformed';
}

async function read(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function listing(objects: TestS3['objects'], bucket: string, query: URLSearchParams): string {
  const prefix = `${bucket}/${query.get('prefix') ?? ''}`;
  const names = [...objects.keys()].filter((name) => name.startsWith(prefix)).sort();
  const start = Number((query.get('continuation-token') ?? 'from 0 & on').match(/\d+/)?.[0]);
  const page = names.slice(start, start + PAGE).map((name) => {
    const modified = new Date(objects.get(name)?.lastModified ?? 0).toISOString();
    return `<Contents><Key>${name.slice(bucket.length + 1)}</Key><LastModified>${modified}</LastModified></Contents>`;
  });
  const more = start + PAGE < names.length;
  const token = more ? `<NextContinuationToken>from ${start + PAGE} &amp; on</NextContinuationToken>` : '';
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${more}</IsTruncated>${token}${page.join('')}</ListBucketResult>`;
}

/** AWS Signature Version 4, implemented independently of the client, so that it can find faults of the client. */
function signedCorrectly(req: IncomingMessage, body: Buffer, accessKeyId: string): boolean {
  const authorization = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=(\w+)$/.exec(
    req.headers.authorization ?? '',
  );
  const [, keyId, scope = '', signedHeaders = '', signature] = authorization ?? [];
  const contentHash = createHash('sha256').update(body).digest('hex');
  if (keyId !== accessKeyId || req.headers['x-amz-content-sha256'] !== contentHash) return false;
  const [path = '', query = ''] = (req.url ?? '').split('?');
  const canonical = [
    req.method,
    path,
    query.split('&').sort().join('&'),
    ...signedHeaders.split(';').map((name) => `${name}:${req.headers[name]}`),
    '',
    signedHeaders,
    contentHash,
  ].join('\n');
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`);
  const hashed = createHash('sha256').update(canonical).digest('hex');
  const toSign = ['AWS4-HMAC-SHA256', req.headers['x-amz-date'], scope, hashed].join('\n');
  return hmac(key, toSign).toString('hex') === signature;
}
