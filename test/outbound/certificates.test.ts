/** Servers with a certificate of their own: refused with its fingerprint, and taken once a person has named it. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createOutboundClient, type OutboundClient } from '../../src/outbound/client.js';
import { readCertificate } from '../../src/process/connect.js';
import { hasOpenssl, makeAuthority } from '../helpers/certificates.js';
import { startReceiver } from '../helpers/receiver.js';
import { jpeg } from '../helpers/requests.js';

const whenOpenssl = hasOpenssl ? describe : describe.skip;

whenOpenssl('A server with its own certificate', () => {
  const authority = makeAuthority();
  // The name is not that of the server, as with the certificates that makers of cameras put in.
  const { cert, key } = authority.certify('DNS:www.camera.example');
  const pem = readFileSync(cert, 'utf8');
  const { fingerprint256: fingerprint } = new X509Certificate(pem);
  let client: OutboundClient;
  let server: Server;
  let url: string;
  let requests = 0;
  let picture: Buffer;

  beforeAll(async () => {
    picture = await jpeg();
    client = createOutboundClient({ outboundAllow: ['127.0.0.0/8'], outboundTimeoutMs: 5_000 });
    server = createServer({ cert: pem, key: readFileSync(key) }, (_request, response) => {
      requests++;
      response.end(picture);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/a.jpg`;
  });
  beforeEach(() => {
    requests = 0;
  });
  afterAll(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
    authority.remove();
  });
  const fetched = (certificate?: string | null, address = url) =>
    client.fetchImage(address, { maxBytes: 100_000, field: 'snapshot', certificate });
  const posted = (certificate?: string | null) =>
    client.post(url, { body: '{}', headers: {}, ...(certificate === undefined ? {} : { certificate }) });

  it('is refused before anything is sent; the refusal states the fingerprint and the way to it', async () => {
    const refusal = `has a certificate that is not trusted (UNABLE_TO_VERIFY_LEAF_SIGNATURE, fingerprint ${fingerprint})`;
    const known = 'expected one of a public authority or of NODE_EXTRA_CA_CERTS';
    const named = `${refusal}: ${known}, or its fingerprint or authority in the setting certificate`;
    await expect(fetched(null)).rejects.toMatchObject({ code: 'url-failed', message: `${url} ${named}` });
    await expect(fetched()).rejects.toMatchObject({ code: 'url-failed', message: `${url} ${refusal}: ${known}` });
    expect((await posted(null)).error).toBe(`the receiver ${named}`);
    expect(requests).toBe(0);
  });

  it.each([
    ['its fingerprint', fingerprint],
    ['its fingerprint without colons', `sha256:${fingerprint.replaceAll(':', '').toLowerCase()}`],
    ['the certificate itself', pem],
  ])('is taken by %s', async (_what, certificate) => {
    expect(Buffer.from(await fetched(certificate)).equals(picture)).toBe(true);
    expect(await posted(certificate)).toMatchObject({ status: 200, error: null });
  });

  it('is refused with the fingerprint of another one, and with an authority if its name is another', async () => {
    const other = fingerprint.replace(/^../, fingerprint.startsWith('00') ? '11' : '00');
    const says = `has another certificate than the setting certificate names`;
    await expect(fetched(other)).rejects.toMatchObject({ message: expect.stringContaining(says) });
    await expect(fetched(readFileSync(authority.ca, 'utf8'))).rejects.toMatchObject({
      message: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
    });
    expect((await posted(other)).error).toContain(says);
    expect(requests).toBe(0);
  });

  it('shares no connection with requests that do not name it', async () => {
    expect((await posted(fingerprint)).error).toBeNull();
    expect((await posted(null)).error).toContain('not trusted');
  });

  it('is reached by a redirect from http of the same host, but not with a login', async () => {
    const camera = await startReceiver((_request, response) => void response.writeHead(302, { location: url }).end());
    const address = `${camera.url}/a.jpg`;
    expect(Buffer.from(await fetched(fingerprint, address)).equals(picture)).toBe(true);
    const login = { username: 'u', password: 'p' };
    const withLogin = { maxBytes: 100_000, field: 'snapshot', certificate: fingerprint, login };
    await expect(client.fetchImage(address, withLogin)).rejects.toMatchObject({
      message: expect.stringContaining('expected https in the address of a camera with a login'),
    });
    await camera.close();
  });

  it('of an authority that is named is taken by its name', async () => {
    const files = authority.certify('IP:127.0.0.1');
    const named = createServer({ cert: readFileSync(files.cert), key: readFileSync(files.key) }, (_request, response) =>
      response.end(picture),
    );
    await new Promise<void>((done) => named.listen(0, '127.0.0.1', done));
    const address = `https://127.0.0.1:${(named.address() as AddressInfo).port}/a.jpg`;
    expect(Buffer.from(await fetched(readFileSync(authority.ca, 'utf8'), address)).equals(picture)).toBe(true);
    named.closeAllConnections();
    named.close();
  });
});

it.each(['x', '', 'AB:CD', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'])(
  'the text %j names no certificate',
  (text) => expect(readCertificate(text)).toBeUndefined(),
);
