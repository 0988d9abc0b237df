/** Structured logs without image bytes or secrets. */
import { type Logger, pino } from 'pino';

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

export function createLogger(options: { level: string; name: string }): Logger {
  return pino({
    name: options.name,
    level: options.level,
    redact: { paths: REDACTED, censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: pino.stdSerializers.err },
  });
}
