/**
 * Child processes that come back when they crash and never outlive us.
 *
 * Each child has a session of its own (Ctrl-C in a terminal reaches only us, so that we decide the order of closing)
 * and ends with this process: on Linux the kernel signals it (`setpriv --pdeathsig`); elsewhere, and if setpriv lacks
 * that, a small guard process watches a pipe that closes with us.
 */
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { probe, ROOT, Stop, shown } from './shell.mjs';

const GUARD = join(dirname(fileURLToPath(import.meta.url)), 'guard.mjs');
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
/** After this uptime a restart has the first pause again. */
const STEADY_MS = 30_000;
/** How often a watched child is asked, and how long it may be silent: far longer than its worst pause under load. */
const WATCH_MS = 5_000;
const LONGEST_SILENCE_MS = 60_000;
const LONGEST_LOG_BYTES = 20 * 1024 * 1024;
/** Niceness of a worker beside an API: inference uses every core, and the API must answer at once nevertheless. */
export const WORKER_NICENESS = 5;

/** level of an error in pino; worse ones are higher */
const ERROR_LEVEL = 50;
/** @returns the message of a log line that is an error; undefined for any other line */
function errorOf(line) {
  try {
    const { level, msg } = JSON.parse(line);
    return level >= ERROR_LEVEL ? msg : undefined;
  } catch {
    return undefined;
  }
}

let kernelTies;
function tied(command, args, deathSignal) {
  kernelTies ??= process.platform === 'linux' && probe('setpriv', ['--pdeathsig', 'KILL', 'true']).ok;
  return kernelTies
    ? ['setpriv', ['--pdeathsig', deathSignal, command, ...args], 'ignore']
    : [process.execPath, [GUARD, deathSignal, command, ...args], 'pipe'];
}

/** @returns the command line that runs at this niceness, with all threads: nice(1) sets it before the first one. */
const yielding = (commandLine, niceness) =>
  niceness === 0 ? commandLine : ['nice', '-n', String(niceness), ...commandLine];

/**
 * Linux shares the cores among sessions first (sched_autogroup), and each child has a session of its own, so that the
 * niceness of a process alone would count only against its own threads.
 */
function yieldGroup(pid, niceness) {
  if (niceness === 0) return;
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness));
  } catch {
    // No such groups here: the niceness of the process counts.
  }
}

export class Supervised {
  #spec;
  #child;
  /** pid of the command, if a guard process runs it */
  #guarded;
  #log;
  #stopping = false;
  #pause = FIRST_PAUSE_MS;
  #timer;

  /**
   * @param {{ name: string, command: string, args: string[] | (() => string[]), env?: object, logFile: string,
   *   deathSignal: 'KILL' | 'TERM', niceness?: number, onRestart?: (why: string) => void }} spec deathSignal: signal to
   *   the child when this process dies. args: a function is called at every start. niceness: 0 (default) to 19, the
   *   higher, the more the child leaves the cores to others
   */
  constructor(spec) {
    this.#spec = spec;
    mkdirSync(dirname(spec.logFile), { recursive: true });
    // O_APPEND: the child writes at the end even after the file was truncated.
    this.#log = openSync(spec.logFile, 'a', 0o600);
  }

  get name() {
    return this.#spec.name;
  }
  get pid() {
    return this.#child?.pid;
  }
  get running() {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /**
   * @returns resolves when the child sends 'ready' (`ready: true`) or has been spawned; rejects (Stop) where it ends
   *   before.
   */
  start({ ready = false } = {}) {
    const { env, deathSignal, niceness = 0 } = this.#spec;
    const given = typeof this.#spec.args === 'function' ? this.#spec.args() : this.#spec.args;
    const [command, ...args] = yielding([this.#spec.command, ...given], niceness);
    this.rotateLog();
    const logFrom = fstatSync(this.#log).size;
    const [program, programArgs, stdin] = tied(command, args, deathSignal);
    const child = spawn(program, programArgs, {
      cwd: ROOT,
      env: env ?? process.env,
      stdio: [stdin, this.#log, this.#log, 'ipc'],
      detached: true,
    });
    this.#child = child;
    if (child.pid !== undefined) yieldGroup(child.pid, niceness);
    const startedAt = Date.now();
    child.on('message', (message) => {
      if (message?.guarded) this.#guarded = message.guarded;
    });
    return new Promise((resolve, reject) => {
      let isReady = false;
      const settle = () => {
        isReady = true;
        resolve();
      };
      child.once('error', (error) => {
        this.#child = undefined;
        reject(new Stop(`${this.name} cannot be started: ${error.message}`));
      });
      if (ready) child.on('message', (message) => message === 'ready' && settle());
      else child.once('spawn', settle);
      child.once('exit', (status, signal) => {
        this.#killGuarded();
        if (this.#stopping) return;
        const why = signal ? `killed by ${signal}` : `ended with status ${status}`;
        if (!isReady) reject(new Stop(`${this.name} ${why} before it was ready:\n${this.#failureReason(logFrom)}`));
        else this.#restart(why, Date.now() - startedAt);
      });
    });
  }

  #restart(why, lived) {
    if (lived > STEADY_MS) this.#pause = FIRST_PAUSE_MS;
    this.#spec.onRestart?.(`${why}; starting again in ${this.#pause / 1000} s`);
    this.#timer = setTimeout(() => {
      this.start().catch(() => this.#stopping || this.#restart('cannot be started', 0));
    }, this.#pause);
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
  }

  /** Copies a long log to NAME.log.1 and truncates it, so that a long run does not fill the disk. */
  rotateLog() {
    if (fstatSync(this.#log).size <= LONGEST_LOG_BYTES) return;
    try {
      copyFileSync(this.#spec.logFile, `${this.#spec.logFile}.1`);
    } catch {
      // A full disk: the newer log replaces the older one, which ends the copy's chance to fill it further.
      rmSync(`${this.#spec.logFile}.1`, { force: true });
    }
    truncateSync(this.#spec.logFile);
  }

  /** @returns the last error in the log since `from`, else the last lines of the log */
  #failureReason(from) {
    const lines = readFileSync(this.#spec.logFile).subarray(from).toString('utf8').trimEnd().split('\n');
    const errors = lines.map(errorOf).filter((message) => message !== undefined);
    return `${errors.at(-1) ?? lines.slice(-15).join('\n')}\n(log: ${shown(this.#spec.logFile)})`;
  }

  /** Sends SIGTERM, and SIGKILL after `graceMs`. Resolves when the process has ended. Safe to call twice. */
  async stop(graceMs) {
    this.#stopping = true;
    clearTimeout(this.#timer);
    if (!this.running) return;
    const child = this.#child;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const timer = setTimeout(() => this.kill(), graceMs);
    await gone;
    clearTimeout(timer);
  }

  /** Kills the command of a guard that was killed, because two Redis servers must never write one file. */
  #killGuarded() {
    if (this.#guarded === undefined) return;
    try {
      process.kill(this.#guarded, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
    this.#guarded = undefined;
  }

  /**
   * Kills a child that has answered no request for a minute, so that it is restarted: it may hang in a call that never
   * returns.
   * @param url address that a healthy child answers, whatever the status
   */
  watch(url) {
    let answeredAt = Date.now();
    const timer = setInterval(async () => {
      if (!this.running || this.#stopping) {
        answeredAt = Date.now();
        return;
      }
      const answered = await fetch(url, { signal: AbortSignal.timeout(WATCH_MS) }).then(
        (response) => response.body?.cancel().then(() => true) ?? true,
        () => false,
      );
      if (answered) answeredAt = Date.now();
      else if (Date.now() - answeredAt > LONGEST_SILENCE_MS) {
        this.#spec.onRestart?.(`has not answered for ${LONGEST_SILENCE_MS / 1000} s and is killed`);
        answeredAt = Date.now();
        this.kill();
      }
    }, WATCH_MS);
    timer.unref();
  }

  kill() {
    if (this.running) this.#child.kill('SIGKILL');
  }
}
