/** Client of image registries: resolves a tag to its digest by the OCI distribution API, with anonymous tokens. */
import { Stop } from './shell.mjs';

const DOCKER_HUB = 'https://registry-1.docker.io';
const TIMEOUT_MS = 30_000;
/** Indexes come first: their digest is that of all platforms. */
const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/**
 * @param {string} reference e.g. 'node:22-bookworm-slim', 'ghcr.io/owner/name:1@sha256:...'
 * @returns the reference without its digest, and the address of its repository's manifests
 */
function parseReference(reference, mirror) {
  const [tagged] = reference.split('@');
  const [, name, tag = 'latest'] = /^(.+?)(?::([\w.-]+))?$/.exec(tagged);
  const [host, ...path] = name.split('/');
  const hasHost = path.length > 0 && /[.:]|^localhost$/.test(host);
  const registry = mirror ?? (hasHost ? `https://${host}` : DOCKER_HUB);
  const repository = hasHost ? path.join('/') : path.length > 0 ? name : `library/${name}`;
  return { tagged, repository, url: new URL(`/v2/${repository}/manifests/${tag}`, registry) };
}

/**
 * @param {string} reference with or without a digest, which is ignored
 * @param {string} [mirror] registry to ask instead of the reference's own
 * @returns {Promise<string>} the reference with the digest that its tag has now
 * @throws Stop naming the image and the answer, if the registry cannot be reached or does not know the tag
 */
export async function pin(reference, mirror) {
  const { tagged, repository, url } = parseReference(reference, mirror);
  const ask = (what, address, options) =>
    fetch(address, { ...options, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error) => {
      const reason = error.cause?.message ?? error.message;
      throw new Stop(`${tagged}: ${what} of ${new URL(address).host} cannot be read: ${reason}`);
    });
  const readManifest = (headers) =>
    ask('the manifest', url, { method: 'HEAD', headers: { accept: MANIFESTS, ...headers } });

  let answer = await readManifest({});
  if (answer.status === 401) {
    const tokens = tokenAddress(answer.headers.get('www-authenticate') ?? '', repository);
    if (tokens === null) throw new Stop(`${tagged}: ${url.host} asks for a login, expected an open repository`);
    const granted = await ask('a token', tokens, {});
    const { token, access_token: other } = await granted.json().catch(() => ({}));
    answer = await readManifest({ authorization: `Bearer ${token ?? other}` });
  }
  const digest = answer.headers.get('docker-content-digest') ?? 'no digest';
  if (answer.ok && DIGEST.test(digest)) return `${tagged}@${digest}`;
  throw new Stop(`${tagged}: ${url.host} answered ${answer.status} with ${digest}, expected 200 with a digest`);
}

/** @returns the address of anonymous tokens, or null if the challenge names none */
function tokenAddress(challenge, repository) {
  if (!/^bearer /i.test(challenge)) return null;
  const {
    realm,
    service,
    scope = `repository:${repository}:pull`,
  } = Object.fromEntries([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
  if (realm === undefined) return null;
  const address = new URL(realm);
  if (service !== undefined) address.searchParams.set('service', service);
  address.searchParams.set('scope', scope);
  return address;
}
