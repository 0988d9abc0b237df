/**
 * The settings, and the only reader of process.env. One TypeBox schema per environment variable states its type, range,
 * default and meaning; checks, messages, the type `Config` and the published table (`describeConfig`) come from it.
 */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { invalidRequest } from '../base/errors.js';
import {
  coerced,
  expectation,
  flag,
  httpAddress,
  integer,
  list,
  listOf,
  oneOf,
  optionalText,
  proxyAddress,
  type SettingSchema,
  share,
  text,
} from './setting-schemas.js';

/** Least important first. */
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const MiB = 1024 * 1024;
/** The commands find the bundles of the repository from any folder. */
const BUNDLED_MODELS = fileURLToPath(new URL('../../models', import.meta.url));

/** The folders of programs, for child processes that get no other variable of the service. */
export const PROGRAM_PATH = process.env.PATH;

const settings = {
  HOST: text('127.0.0.1', 'Address the API listens on.'),
  PORT: integer(0, 65_535, 8080, 'Port the API listens on; 0 picks a free one.'),
  PUBLIC_URL: httpAddress('Base of links in answers and webhooks; default: http://HOST:PORT.'),
  DATA_DIR: text('./data', 'Folder for frames, heatmap data and the embedded Redis.'),
  MODELS_DIR: Type.Unsafe<string>(
    Type.String({
      default: null,
      description: 'Folder with one sub-folder per bundle; default: `models` beside the program.',
    }),
  ),
  DEFAULT_MODEL: text('scorer-surveillance', 'Bundle used if a request names none.'),
  REDIS_URL: optionalText(
    'redis://, rediss://, unix:///path.sock, or redis+sentinel://host:port,host:port/NAME for a primary that fails ' +
      'over (deploy/README.md); default: the embedded server in DATA_DIR.',
  ),
  AUTH: oneOf(['on', 'off'], 'on', 'off serves without API keys, and only on a loopback HOST.'),
  CORS_ORIGINS: listOf(
    '^(\\*|https?://[^/?#\\s@A-Z]+)$',
    'origins as https://host or http://host:port, comma separated, or *',
    'Origins whose pages may call the API from a browser; default: none.',
  ),
  TRUSTED_PROXIES: listOf(
    '^(loopback|linklocal|uniquelocal|[0-9a-fA-F.:]+(/[0-9]{1,3})?)$',
    'addresses, CIDRs, loopback, linklocal or uniquelocal (private networks), comma separated',
    'Proxies whose X-Forwarded-For distinguishes their clients for RATE_LIMIT; default: none.',
  ),
  METRICS_AUTH: flag(false, 'Require an API key with the scope metrics for /metrics and /internal/scale of the API.'),
  QUEUE_PAGE: flag(false, 'Serve the page of the queues at /v1/queues, read only, for keys with the scope admin.'),
  DEVICE: Type.String({
    pattern: '^(auto|cpu|cuda:\\d+)$',
    title: 'auto, cpu or cuda:N',
    default: 'auto',
    description: 'Device that runs the models; auto takes the CPU (ADR 13).',
  }),
  STRICT_DEVICE: flag(false, 'Refuse to start rather than fall back to the CPU.'),
  INFERENCE_THREADS: integer(
    0,
    256,
    0,
    'Inference threads of the CPU per worker, also beside a GPU; 0 = one per core.',
  ),
  BATCH_SIZE: integer(1, 64, 4, 'Largest dynamic batch on a GPU; a CPU thread takes one task at a time.'),
  GPU_GRAPHS: oneOf(
    ['large', 'all'],
    'large',
    'Graphs that a GPU runs: the large ones, or all, whose small ones need several pairs in a batch (ADR 13).',
  ),
  WORKER_CONCURRENCY: integer(0, 256, 0, 'Jobs that one worker holds at a time; 0 = twice its inference threads.'),
  JOB_LOCK_MS: integer(
    1_000,
    600_000,
    60_000,
    'Time after which the jobs of a dead worker go to another; a live worker renews its lock at half of it.',
  ),
  WORKER_METRICS_PORT: integer(
    0,
    65_535,
    0,
    'Port on HOST of the /metrics and /livez of a worker; 0 = none. Workers on one host need one each. ' +
      '`npm run up` takes PORT + 1000 if it is not set.',
  ),
  FEATURE_CACHE_MB: integer(0, 16_384, 64, 'Memory for the features of repeated frames, and as much for their pixels.'),
  LOG_LEVEL: oneOf(
    LOG_LEVELS,
    'info',
    'Lowest level that is logged; src/process/logger.ts says what each level is for.',
  ),
  BODY_LIMIT: integer(1024, 1024 * MiB, 48 * MiB, 'Largest request body in bytes.'),
  JSON_LIMIT: integer(
    1024,
    64 * MiB,
    4 * MiB,
    'Largest JSON body in bytes. Parsing blocks the API for about 5 ms per MiB; send larger frames as a form.',
  ),
  FRAME_LIMIT: integer(1024, 512 * MiB, 20 * MiB, 'Largest single frame in bytes.'),
  PIXEL_LIMIT: integer(1, 268_000_000, 50_000_000, 'Most pixels in a frame.'),
  VIDEO_PIXEL_LIMIT: integer(
    1,
    268_000_000,
    4096 * 2304,
    'Most pixels in a picture of a video. Decoders keep up to 20 of them in memory.',
  ),
  FOOTAGE_LIMIT: integer(
    1024,
    1024 * 1024 * MiB,
    16 * 1024 * MiB,
    'Largest recording in bytes that a batch takes as an upload or from an address.',
  ),
  DECODE_TIMEOUT: integer(1, 3600, 10, 'Longest decoding of one frame, in seconds.'),
  COMPARISON_TIMEOUT: integer(
    1,
    86_400,
    60,
    'Longest comparison of two fetched frames, in seconds: decoding, the model and all waits in between.',
  ),
  TRUTH: share(0.9, 'Share of the things named in sentences that must be true, 0 to 1; 0 names everything.'),
  RATE_LIMIT: integer(
    0,
    10_000_000,
    6_000,
    'Requests per minute and API key, and per address of requests without a valid key; 0 = no limit.',
  ),
  MAX_WAITING: integer(1, 10_000_000, 10_000, 'Waiting comparisons from which POST answers 503.'),
  CAMERA_RESERVE: integer(
    0,
    90,
    10,
    'Percent of MAX_WAITING that only frames of cameras may fill; other comparisons get 503 earlier.',
  ),
  OWNER_SHARE: integer(
    1,
    100,
    50,
    'Percent of MAX_WAITING that the comparisons of one API key (or of all keys of one owner) may fill.',
  ),
  WAIT_LIMIT: integer(0, 600, 60, 'Longest `Prefer: wait`, in seconds.'),
  DEADLINE: integer(0, 86_400, 0, 'Seconds after which a waiting comparison of two frames fails; 0 = never.'),
  CAMERA_DEADLINE: integer(
    0,
    86_400,
    3_600,
    "Seconds after which a camera's waiting frame fails, so that frames of an outage do not delay new ones; 0 = never.",
  ),
  FRAME_RETENTION_HOURS: integer(0, 87_600, 24, 'How long frames are kept; 0 = until finished.'),
  HEATMAP_RETENTION_HOURS: integer(0, 87_600, 168, 'How long heatmap data is kept.'),
  RESULT_RETENTION_HOURS: integer(1, 876_000, 720, 'How long results are kept.'),
  SEARCH_CHANGES: integer(
    0,
    10_000_000,
    200_000,
    'Changes that the search index of an API process holds in memory, the latest ones.',
  ),
  OUTBOUND_ALLOW: list(
    'Private addresses or CIDRs that callbacks and frame URLs may reach, comma separated; with a port ' +
      '(10.0.0.7:25, [fd00::7]:25) at that port alone.',
  ),
  OUTBOUND_TIMEOUT_MS: integer(100, 120_000, 15_000, 'Timeout of a callback or a frame download.'),
  HTTP_PROXY: proxyAddress('Proxy of requests to http:// addresses of callers; also as http_proxy.'),
  HTTPS_PROXY: proxyAddress('Proxy of https://, smtp(s):// and rtsp(s):// addresses, by CONNECT; also as https_proxy.'),
  NO_PROXY: list(
    'Hosts that are reached without a proxy: names with their subdomains, .name, addresses, CIDRs or *; also as no_proxy.',
  ),
  WEBHOOK_SECRET: optionalText('whsec_... signs callbacks; default: created once in DATA_DIR/webhook.secret.'),
  EVIDENCE_KEY_FILE: optionalText(
    'File with the Ed25519 key (PEM) that signs evidence packages; default: created once in DATA_DIR/evidence.key.',
  ),
  FFMPEG: text(
    'ffmpeg',
    'Name in PATH, or path, of the ffmpeg that reads rtsp:// snapshots and footage; ffprobe is expected beside it.',
  ),
  FFMPEG_HWACCEL: oneOf(
    ['none', 'auto', 'cuda', 'vaapi', 'videotoolbox', 'vdpau'],
    'none',
    'Hardware decoder of footage, as -hwaccel of ffmpeg names it; auto: the first of them that can be opened.',
  ),
  LOGIN_SECRET: optionalText(
    'At least 32 characters, from which the key of the stored logins of cameras and secrets of endpoints is derived; ' +
      'default: the webhook secret.',
  ),
  S3_ENDPOINT: optionalText('https://host of an S3 service; enables s3:// frames.'),
  S3_REGION: text('us-east-1', 'Region that S3 requests are signed for.'),
  S3_ACCESS_KEY_ID: optionalText('S3 access key id.'),
  S3_SECRET_ACCESS_KEY: optionalText('S3 secret access key.'),
  S3_FRAME_BUCKET: optionalText('Keep frames and heatmap data in this bucket instead of DATA_DIR.'),
  S3_SOURCE_BUCKETS: list(
    'Buckets of s3:// frames, comma separated, never S3_FRAME_BUCKET; default: all that the credentials may read.',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpAddress(
    'Collector of OpenTelemetry (OTLP over HTTP) that gets the traces; default: there are none.',
  ),
  SHUTDOWN_MS: integer(0, 300_000, 25_000, 'Longest graceful shutdown.'),
} as const satisfies Readonly<Record<string, TSchema>>;

/** 'S3_ACCESS_KEY_ID' -> 's3AccessKeyId' */
type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Tail>>}`
  : Lowercase<S>;
const camelCase = (env: string): string =>
  env.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

type Settings = typeof settings;
/** The checked settings, each under the camel-case name of its variable. */
export type Config = { readonly [Env in keyof Settings & string as CamelCase<Env>]: Static<Settings[Env]> };

const entries = Object.entries(settings) as unknown as readonly [string, SettingSchema][];

/** Answers to removed settings. */
const REMOVED: Readonly<Record<string, string>> = {
  ONVIF_DISCOVERY: '`scenedelta onvif` finds the cameras of a network',
};

/**
 * An empty variable counts as not set: compose files and shells pass unset variables on as empty ones.
 * @throws ScenedeltaError 'invalid-request' with the variable, its value and the expectation, or what took its place
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const read = ([name, schema]: readonly [string, SettingSchema]) => {
    // Other programs read the settings of proxies in small letters.
    const given = env[name] ?? (name.endsWith('_PROXY') ? env[name.toLowerCase()] : undefined);
    if (given === undefined || given.trim() === '') return [camelCase(name), schema.default];
    const value = coerced(given, schema);
    if (!Value.Check(schema, value)) throw rejected(name, given, expectation(schema));
    return [camelCase(name), value];
  };
  for (const [name, answer] of Object.entries(REMOVED)) {
    if (env[name]) throw invalidRequest(`${name} is removed: ${answer}`, name);
  }
  const given = Object.fromEntries(entries.map(read)) as Config;
  const config = { ...given, modelsDir: given.modelsDir ?? BUNDLED_MODELS };
  if (config.auth === 'off' && !isLoopback(config.host)) {
    throw invalidRequest(
      `AUTH=off with HOST=${JSON.stringify(config.host)}: expected a loopback HOST (127.0.0.1, ::1 or localhost), ` +
        'because anybody could read the cameras',
      'AUTH',
    );
  }
  return Object.freeze(config);
}

const rejected = (name: string, given: string, expected: string) =>
  invalidRequest(`${name}=${JSON.stringify(given)}: expected ${expected}`, name);

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/** The address of Redis: REDIS_URL, or the socket of the server that `npm run up` keeps in DATA_DIR. */
export const redisUrlOf = (config: Pick<Config, 'redisUrl' | 'dataDir'>): string =>
  config.redisUrl ?? `unix://${resolve(config.dataDir, 'redis/redis.sock')}`;

/** One row per setting, for the table of deploy/README.md and for `npm run up -- --help`. */
export interface SettingDescription {
  readonly env: string;
  readonly type: string;
  readonly default: string;
  readonly describe: string;
}

export const describeConfig = (): SettingDescription[] =>
  entries.map(([env, schema]) => ({
    env,
    type: expectation(schema).replace(/^an? /, ''),
    default: defaultText(schema.default),
    describe: schema.description,
  }));

function defaultText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return value === null ? '' : String(value);
}
