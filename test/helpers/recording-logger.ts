/** A logger whose lines a test reads. */
import { createLogger } from '../../src/process/logger.js';

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export function recordingLogger() {
  const lines: LogLine[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as LogLine);
  return { lines, logger: createLogger({ level: 'trace', name: 'test' }, { write }) };
}
