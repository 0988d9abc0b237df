/** Structured logs without image bytes or secrets. */
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';

export type { Logger };

/** Anywhere in a logged object, these never reach the log. */
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

/** @param destination a stream in place of standard output */
export function createLogger(
  options: { level: string; name: string },
  destination?: DestinationStream,
): Logger {
  const settings: LoggerOptions = {
    name: options.name,
    level: options.level,
    redact: { paths: REDACTED, censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: (err: Error) => withoutCommands(pino.stdSerializers.err(err)) },
  };
  return destination === undefined ? pino(settings) : pino(settings, destination);
}

/** ioredis hangs on its errors what it was to send: settings with the addresses of cameras, results, hashes of keys. */
const COMMANDS = new Set(['command', 'previousErrors', 'lastNodeError']);

/** @param error serialised, with the errors in it */
function withoutCommands(error: unknown): unknown {
  if (Array.isArray(error)) return error.map(withoutCommands);
  if (typeof error !== 'object' || error === null || !('stack' in error)) return error;
  const kept = Object.entries(error).filter(([name]) => !COMMANDS.has(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, name === 'aggregateErrors' ? withoutCommands(value) : value]),
  );
}
