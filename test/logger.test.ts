import { closeSync, existsSync, openSync } from 'node:fs';
import { createLogger, lossyOutput } from '../src/logger.js';

function logged(write: (logger: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  write(createLogger({ level: 'info', name: 'test' }, { write: (line) => void lines.push(line) }));
  return lines.join('');
}

describe('The log', () => {
  it('contains message and stack of an error, but not the command that Redis refused', () => {
    const command = { name: 'hset', args: ['sd:cam:gate', 'http://admin:hunter2@cam.example/'] };
    const refused = Object.assign(new Error('OOM'), { command });
    const error = Object.assign(new Error('EXECABORT'), { code: 'X', command, previousErrors: [refused] });
    const line = logged((logger) => {
      logger.error({ err: error }, 'failed');
      logger.error({ err: new AggregateError([error], 'many') }, 'failed');
    });
    expect(line).not.toContain('hunter2');
    expect(JSON.parse(line.split('\n')[0] as string).err).toMatchObject({
      type: 'Error',
      message: 'EXECABORT',
      code: 'X',
      stack: expect.stringContaining('logger.test'),
    });
  });

  (existsSync('/dev/full') ? it : it.skip)('loses a line that the full disk refuses, and goes on', () => {
    const full = openSync('/dev/full', 'w');
    const output = lossyOutput(full);
    expect(() => output.write('{"level":30}\n')).not.toThrow();
    closeSync(full);
    expect(() => output.write('{"level":30}\n')).not.toThrow();
  });
});
