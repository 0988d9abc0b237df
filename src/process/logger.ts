/**
 * Structured logs (JSON lines) without image bytes or secrets.
 *
 * Levels: `fatal`: the process ends. `error`: something was not done that should have been, so a person should look.
 * `warn`: something failed and is tried again, or was refused. `info`: a state or result of the normal course, one line
 * per comparison, delivery attempt or start. `debug`: details for a search for errors. `trace`: not used by the service
 * itself.
 *
 * Fields have one name each: `trace_id`, `comparison_id`, `camera_id`, `delivery_id`, `job_id`, `queue`, `err` (with
 * stack), `reason`.
 */
import { writeSync } from 'node:fs';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

export type { Logger };

/** Paths in a logged object whose values never reach the log. */
const REDACTED = [
  'authorization',
  'headers.authorization',
  'req.headers.authorization',
  'headers["x-api-key"]',
  'req.headers["x-api-key"]',
  '*.secret',
  '*.password',
  'secret',
];

/** @param destination a stream instead of standard output */
export function createLogger(options: { level: string; name: string }, destination?: DestinationStream): Logger {
  const settings: LoggerOptions = {
    name: options.name,
    level: options.level,
    redact: { paths: REDACTED, censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (err: Error) => withoutCommands(pino.stdSerializers.err(err)) },
  };
  return pino(settings, destination ?? lossyOutput(STANDARD_OUTPUT));
}

const STANDARD_OUTPUT = 1;
/** How long a full pipe may hold up the process, in ms, once until its reader has taken something. */
const LONGEST_WAIT_MS = 200;

/**
 * A destination that loses lines rather than the process. pino's own retries a write that fails and waits for it at the
 * exit: on a full disk the process would neither run nor end.
 * @param fd file descriptor
 */
export function lossyOutput(fd: number): DestinationStream {
  let cut = false;
  let full = false;
  return {
    write(line) {
      let rest = Buffer.from(cut ? `\n${line}` : line);
      const end = performance.now() + LONGEST_WAIT_MS;
      while (rest.length > 0) {
        try {
          const written = writeSync(fd, rest);
          cut = written < rest.length;
          full = false;
          rest = rest.subarray(written);
        } catch (error) {
          // EAGAIN: the reader of a pipe is slow. A wait per line would hold up every request.
          if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || full) return;
          full = performance.now() > end;
          if (full) return;
          Atomics.wait(PAUSE, 0, 0, 1);
        }
      }
    },
  };
}
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** Properties in which ioredis attaches refused commands to its errors: camera addresses, results, hashes of keys. */
const COMMANDS = new Set(['command', 'previousErrors', 'lastNodeError']);

/** @param error a serialised error, with the errors inside it */
function withoutCommands(error: unknown): unknown {
  if (Array.isArray(error)) return error.map(withoutCommands);
  if (typeof error !== 'object' || error === null || !('stack' in error)) return error;
  const kept = Object.entries(error).filter(([name]) => !COMMANDS.has(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, name === 'aggregateErrors' ? withoutCommands(value) : value]),
  );
}
