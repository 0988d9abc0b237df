/** Addresses of Redis: a server, a unix socket, or the sentinels of a primary that may fail over. */
import type { RedisOptions } from 'ioredis';
import { invalidRequest } from '../../base/errors.js';
import { withoutSecrets } from '../../base/redact-url.js';

const SENTINEL_PORT = 26_379;

const EXPECTED =
  'redis://host:port, rediss://host:port, unix:///path.sock or ' +
  'redis+sentinel://[user:password@]host:port,host:port/NAME[/db] (rediss+sentinel:// with TLS)';

/** scheme, user info, hosts, name of the primary, database, query. */
const SENTINELS = /^(rediss?)\+sentinel:\/\/(?:([^@/]*)@)?([^@/?#]+)\/([^/?#]+)(?:\/(\d+))?(?:\?([^#]*))?$/;
const HOST = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i;

/**
 * @param url redis://, rediss://, unix:///path/to.sock (with ?db=N for a database other than 0), or
 *   redis+sentinel://[user:password@]host:port,host:port/NAME[/db], where NAME is what the sentinels call the primary
 *   (`sentinel monitor NAME ...`). User and password are those of the primary; `?sentinel_username=` and
 *   `&sentinel_password=` are those of the sentinels. rediss+sentinel:// speaks TLS with both.
 * @returns options of ioredis, or a text that ioredis takes as an address
 * @throws ScenedeltaError 'invalid-request' if the address is none of these
 */
export function redisAddress(url: string) {
  if (/^rediss?:\/\/./.test(url)) return url;
  const socket = /^unix:\/\/(\/.+)$/.exec(url)?.[1];
  if (socket !== undefined) return socket;
  const sentinels = SENTINELS.exec(url);
  if (sentinels === null) throw invalid(url);
  const [, scheme, user = '', hosts = '', name = '', db = '0', query = ''] = sentinels;
  const options = new URLSearchParams(query);
  const { username, password } = decoded(user, url);
  return {
    sentinels: hosts.split(',').map((host) => sentinelOf(host, url)),
    name: decodeURIComponent(name),
    db: Number(db),
    ...given({ username, password }),
    ...given({
      sentinelUsername: options.get('sentinel_username'),
      sentinelPassword: options.get('sentinel_password'),
    }),
    ...(scheme === 'rediss' ? { tls: {}, enableTLSForSentinelMode: true } : {}),
    // A primary that hangs or is cut off closes no connection: the sentinels' announcement does.
    failoverDetector: true,
  } satisfies RedisOptions;
}

const invalid = (url: string) =>
  invalidRequest(`REDIS_URL=${JSON.stringify(withoutSecrets(url))}: expected ${EXPECTED}`, 'REDIS_URL');

/** @param user `name:password`, `:password` or nothing, percent-encoded */
function decoded(user: string, url: string) {
  const [, name = '', password = ''] = /^([^:]*)(?::(.*))?$/s.exec(user) ?? [];
  try {
    return { username: decodeURIComponent(name) || null, password: decodeURIComponent(password) || null };
  } catch {
    throw invalid(url);
  }
}

function sentinelOf(text: string, url: string): { host: string; port: number } {
  const [, host, port = String(SENTINEL_PORT)] = HOST.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) throw invalid(url);
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

const given = <T extends Record<string, string | null>>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as { [K in keyof T]?: string };
