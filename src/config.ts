/**
 * The only reader of process.env. Each setting states its meaning, default and range; the rest of the code receives the
 * frozen result. `npm run up -- --help` and deploy/README.md print the table that `describeConfig` makes.
 */
import { resolve } from 'node:path';
import { ScenedeltaError } from './errors.js';

type Parse<T> = (text: string, name: string) => T;
interface Setting<T> {
  readonly env: string;
  readonly describe: string;
  readonly default: T;
  readonly parse: Parse<T>;
}

function reject(name: string, text: string, expected: string): never {
  throw new ScenedeltaError('invalid-request', `${name}=${JSON.stringify(text)}: expected ${expected}`, {
    field: name,
  });
}
const text: Parse<string> = (t) => t;
const optionalText: Parse<string | null> = text;
const integer =
  (min: number, max: number): Parse<number> =>
  (t, name) => {
    const n = /^\d{1,15}$/.test(t) ? Number(t) : Number.NaN;
    return n >= min && n <= max ? n : reject(name, t, `an integer from ${min} to ${max}`);
  };
const flag: Parse<boolean> = (t, name) =>
  /^(1|true|on|yes)$/i.test(t) ? true : /^(0|false|off|no)$/i.test(t) ? false : reject(name, t, 'on or off');
const oneOf =
  <const T extends string>(...values: readonly T[]): Parse<T> =>
  (t, name) =>
    (values as readonly string[]).includes(t) ? (t as T) : reject(name, t, `one of ${values.join(', ')}`);
const device: Parse<string> = (t, name) =>
  /^(auto|cpu|cuda:\d+)$/.test(t) ? t : reject(name, t, 'auto, cpu or cuda:N');
const list: Parse<readonly string[]> = (t) =>
  t
    .split(',')
    .map((s) => s.trim())
    .filter((s) => s !== '');

const setting = <T>(env: string, fallback: T, parse: Parse<T>, describe: string): Setting<T> => ({
  env,
  describe,
  default: fallback,
  parse,
});

const MiB = 1024 * 1024;

const settings = {
  host: setting('HOST', '127.0.0.1', text, 'Address the API listens on.'),
  port: setting('PORT', 8080, integer(0, 65_535), 'Port the API listens on; 0 picks a free one.'),
  publicUrl: setting<string | null>(
    'PUBLIC_URL',
    null,
    optionalText,
    'Base of links in answers and webhooks; default: http://HOST:PORT.',
  ),
  dataDir: setting('DATA_DIR', './data', text, 'Folder for frames, heatmap data and the embedded Redis.'),
  modelsDir: setting('MODELS_DIR', './models', text, 'Folder with one sub-folder a bundle.'),
  defaultModel: setting(
    'DEFAULT_MODEL',
    'scorer-surveillance',
    text,
    'Bundle used where a request names none.',
  ),
  redisUrl: setting<string | null>(
    'REDIS_URL',
    null,
    optionalText,
    'redis://, rediss:// or unix:///path.sock; default: the embedded server in DATA_DIR.',
  ),
  auth: setting(
    'AUTH',
    'on',
    oneOf('on', 'off'),
    'off serves without API keys, and only on a loopback HOST.',
  ),
  device: setting('DEVICE', 'auto', device, 'auto, cpu or cuda:N. auto takes CUDA where it loads.'),
  strictDevice: setting('STRICT_DEVICE', false, flag, 'Refuse to start rather than fall back to the CPU.'),
  inferenceThreads: setting(
    'INFERENCE_THREADS',
    0,
    integer(0, 256),
    'Inference threads of a worker; 0 = one a core on CPU, one a GPU.',
  ),
  batchSize: setting(
    'BATCH_SIZE',
    8,
    integer(1, 64),
    'Largest dynamic batch on a GPU; a CPU thread takes one pair at a time.',
  ),
  workerConcurrency: setting(
    'WORKER_CONCURRENCY',
    0,
    integer(0, 256),
    'Jobs one worker holds at a time; 0 = twice its inference threads.',
  ),
  jobLockMs: setting(
    'JOB_LOCK_MS',
    60_000,
    integer(1_000, 600_000),
    'How long the jobs of a worker that died wait before another takes them up; workers renew it at half time.',
  ),
  workerMetricsPort: setting(
    'WORKER_METRICS_PORT',
    0,
    integer(0, 65_535),
    "Port on HOST of a worker's own /metrics and /livez; 0 = none. Several workers on one host need one each.",
  ),
  featureCacheMb: setting(
    'FEATURE_CACHE_MB',
    64,
    integer(0, 16_384),
    'Memory for features of repeated "before" frames.',
  ),
  logLevel: setting(
    'LOG_LEVEL',
    'info',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'pino level.',
  ),
  bodyLimit: setting('BODY_LIMIT', 48 * MiB, integer(1024, 1024 * MiB), 'Largest request body in bytes.'),
  jsonLimit: setting(
    'JSON_LIMIT',
    4 * MiB,
    integer(1024, 64 * MiB),
    'Largest JSON body in bytes: reading it holds up everybody else for about 5 ms per MiB. Larger frames go as a form.',
  ),
  frameLimit: setting('FRAME_LIMIT', 20 * MiB, integer(1024, 512 * MiB), 'Largest single frame in bytes.'),
  pixelLimit: setting('PIXEL_LIMIT', 50_000_000, integer(1, 268_000_000), 'Most pixels in a frame.'),
  rateLimit: setting(
    'RATE_LIMIT',
    600,
    integer(0, 10_000_000),
    'Requests per minute and API key; 0 = no limit.',
  ),
  maxWaiting: setting(
    'MAX_WAITING',
    10_000,
    integer(1, 10_000_000),
    'Comparisons waiting before POST answers 503.',
  ),
  waitLimit: setting('WAIT_LIMIT', 60, integer(0, 600), 'Longest `Prefer: wait`, in seconds.'),
  deadlineSeconds: setting(
    'DEADLINE',
    0,
    integer(0, 86_400),
    'Seconds after which a waiting live comparison is dropped; 0 = never.',
  ),
  frameRetentionHours: setting(
    'FRAME_RETENTION_HOURS',
    24,
    integer(0, 87_600),
    'How long frames are kept; 0 = until finished.',
  ),
  heatmapRetentionHours: setting(
    'HEATMAP_RETENTION_HOURS',
    168,
    integer(0, 87_600),
    'How long heatmap data is kept.',
  ),
  resultRetentionHours: setting(
    'RESULT_RETENTION_HOURS',
    720,
    integer(1, 876_000),
    'How long results are kept.',
  ),
  outboundAllow: setting<readonly string[]>(
    'OUTBOUND_ALLOW',
    [],
    list,
    'CIDRs of private addresses that callbacks and frame URLs may reach, comma separated.',
  ),
  outboundTimeoutMs: setting(
    'OUTBOUND_TIMEOUT_MS',
    15_000,
    integer(100, 120_000),
    'Timeout of a callback or a frame download.',
  ),
  webhookSecret: setting<string | null>(
    'WEBHOOK_SECRET',
    null,
    optionalText,
    'whsec_... signs callbacks; default: made once in DATA_DIR/webhook.secret.',
  ),
  s3Endpoint: setting<string | null>(
    'S3_ENDPOINT',
    null,
    optionalText,
    'https://host of an S3 service; enables s3:// frames.',
  ),
  s3Region: setting('S3_REGION', 'us-east-1', text, 'Region that S3 requests are signed for.'),
  s3AccessKeyId: setting<string | null>('S3_ACCESS_KEY_ID', null, optionalText, 'S3 access key id.'),
  s3SecretAccessKey: setting<string | null>(
    'S3_SECRET_ACCESS_KEY',
    null,
    optionalText,
    'S3 secret access key.',
  ),
  s3FrameBucket: setting<string | null>(
    'S3_FRAME_BUCKET',
    null,
    optionalText,
    'Keep frames and heatmap data in this bucket instead of DATA_DIR.',
  ),
  s3SourceBuckets: setting<readonly string[]>(
    'S3_SOURCE_BUCKETS',
    [],
    list,
    'Buckets that s3:// frames may come from, comma separated; default: all that the credentials may read. Never S3_FRAME_BUCKET.',
  ),
  shutdownMs: setting('SHUTDOWN_MS', 25_000, integer(0, 300_000), 'Longest graceful shutdown.'),
} as const;

type Settings = typeof settings;
export type Config = { readonly [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T : never };

/**
 * An empty variable is one that is not set: compose files and shells make them of what is not set, and 0 or '' mean something.
 * @throws ScenedeltaError 'invalid-request' naming the variable, what came and what was expected.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const config: Record<string, unknown> = {};
  for (const [key, s] of Object.entries(settings) as [string, Setting<unknown>][]) {
    const given = env[s.env];
    config[key] = given === undefined || given.trim() === '' ? s.default : s.parse(given, s.env);
  }
  const result = config as Config;
  if (result.auth === 'off' && !isLoopback(result.host)) {
    throw new ScenedeltaError(
      'invalid-request',
      `AUTH=off with HOST=${JSON.stringify(result.host)}: expected a loopback HOST (127.0.0.1, ::1 or localhost), because anybody could read the cameras`,
      { field: 'AUTH' },
    );
  }
  return Object.freeze(result);
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/** Where Redis is: REDIS_URL, or the socket of the server that `npm run up` keeps in DATA_DIR. */
export const redisUrlOf = (config: Pick<Config, 'redisUrl' | 'dataDir'>): string =>
  config.redisUrl ?? `unix://${resolve(config.dataDir, 'redis/redis.sock')}`;

/** One row a setting, for documentation and `--help`. */
export const describeConfig = (): { env: string; default: string; describe: string }[] =>
  Object.values(settings).map((s) => ({
    env: s.env,
    default: s.default === null ? '' : Array.isArray(s.default) ? s.default.join(',') : String(s.default),
    describe: s.describe,
  }));
