/** The whole service, started by `node scripts/up.mjs` with a temporary data folder and the bundle of test/fixtures. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Comparison } from '../../src/schemas/comparison.js';
import { changedPair } from './scenes.js';

const ROOT = resolve('.');
const READY_LIMIT_MS = 180_000;

export interface Processes {
  readonly api: number;
  readonly worker: number;
  readonly redis: number;
}
export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}
export interface Service {
  readonly url: string;
  /** of the first key */
  readonly headers: { readonly authorization: string };
  readonly dataDir: string;
  /** of scripts/up.mjs itself */
  readonly process: ChildProcess;
  /** @returns its output so far */
  output(): string;
  /** @returns the current pids of its children */
  processes(): Promise<Processes>;
  readonly ended: Promise<Ended>;
  /** SIGTERM, wait, remove the data folder (unless it was given). */
  stop(): Promise<Ended>;
}

export interface ServiceOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** a data folder that is kept when the service stops */
  readonly dataDir?: string;
  /** a command that runs `node scripts/up.mjs`, given as its arguments */
  readonly wrapper?: (dataDir: string) => readonly string[];
}

/**
 * Private addresses are allowed for receivers of the tests; with a lock of 4 s the job of a killed worker recovers
 * quickly.
 */
export const ENVIRONMENT = {
  PORT: '0',
  MODELS_DIR: resolve('test/fixtures'),
  DEFAULT_MODEL: 'bundle-tiny',
  INFERENCE_THREADS: '1',
  OUTBOUND_ALLOW: '127.0.0.0/8',
  JOB_LOCK_MS: '4000',
  RATE_LIMIT: '0',
};

export const newDataDir = (): string => mkdtempSync(join(tmpdir(), 'sd-'));

/** Starts the service without waiting for it. */
export function spawnUp(dataDir: string, options: ServiceOptions & { args?: readonly string[] } = {}) {
  const command = [
    ...(options.wrapper?.(dataDir) ?? []),
    process.execPath,
    join(ROOT, 'scripts/up.mjs'),
    ...(options.args ?? []),
  ];
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...process.env, ...ENVIRONMENT, DATA_DIR: dataDir, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (printed += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (printed += text));
  const ended = new Promise<Ended>((done) => child.once('close', (status, signal) => done({ status, signal })));
  return { child, ended, output: () => printed };
}

/** @throws Error with its whole output if it ends or is not up within three minutes */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const dataDir = options.dataDir ?? newDataDir();
  const { child, ended, output } = spawnUp(dataDir, options);
  const until = Date.now() + READY_LIMIT_MS;
  while (!output().includes('Up after')) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > until) {
      child.kill('SIGKILL');
      throw new Error(`the service is not up:\n${output()}\n${logsOf(dataDir)}`);
    }
    await new Promise((done) => setTimeout(done, 20));
  }
  const { url } = await ask(dataDir);
  return {
    url,
    headers: { authorization: `Bearer ${readFileSync(join(dataDir, 'first-key'), 'utf8').trim()}` },
    dataDir,
    process: child,
    output,
    processes: async () => (await ask(dataDir)).processes,
    ended,
    stop: async () => {
      child.kill('SIGTERM');
      const outcome = await ended;
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
      return outcome;
    },
  };
}

/** One service and one pair of frames for all tests of a file, started before the first and stopped after the last. */
export function useService(): { service: Service; pair: { before: Buffer; after: Buffer } } {
  const used = {} as ReturnType<typeof useService>;
  beforeAll(async () => {
    used.pair = await changedPair();
    used.service = await startService();
  }, 240_000);
  afterAll(() => used.service?.stop());
  return used;
}

/** @returns the description that the running instance sends on its lock socket */
export function ask(dataDir: string): Promise<{ pid: number; url: string; processes: Processes }> {
  return new Promise((done, fail) => {
    const socket = connect(join(dataDir, 'up.sock'));
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => (text += chunk));
    socket.on('end', () => {
      try {
        done(JSON.parse(text));
      } catch (cause) {
        // It was ended while it answered.
        fail(new Error(`no description from ${dataDir}, but ${JSON.stringify(text)}`, { cause }));
      }
    });
    socket.on('error', fail);
  });
}

export const logsOf = (dataDir: string): string =>
  ['api', 'worker', 'mqtt', 'redis']
    .map((name) => join(dataDir, `logs/${name}.log`))
    .filter((file) => existsSync(file))
    .map((file) => `--- ${file}\n${readFileSync(file, 'utf8').slice(-4000)}`)
    .join('\n');

/** @returns whether a process with this id exists; a zombie counts as gone */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const state = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
  return !/\) Z /.test(state);
}

type FrameSource = Uint8Array | string;
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of the JSON it reads
  readonly body: any;
}

/** POST /v1/comparisons as a form: bytes become files, strings (addresses, base64, options) become fields. */
export async function post(
  service: Pick<Service, 'url' | 'headers'>,
  fields: Readonly<Record<string, FrameSource>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)]), `${name}.jpg`);
  }
  return answerOf(
    await fetch(`${service.url}/v1/comparisons`, {
      method: 'POST',
      body: form,
      headers: { ...service.headers, prefer: 'wait=30', ...headers },
    }),
  );
}

export async function get(service: Pick<Service, 'url' | 'headers'>, path: string): Promise<Answer> {
  return answerOf(await fetch(new URL(path, service.url), { headers: service.headers }));
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** Polls the comparison until it has ended. */
export async function finished(
  service: Pick<Service, 'url' | 'headers'>,
  id: string,
  limitMs = 60_000,
): Promise<Comparison> {
  const until = Date.now() + limitMs;
  for (;;) {
    const { status, body } = await get(service, `/v1/comparisons/${id}`);
    if (status === 200 && !['queued', 'running'].includes(body.status)) return body as Comparison;
    if (Date.now() > until) throw new Error(`${id} has not ended: ${status} ${JSON.stringify(body)}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
