import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, lossyOutput } from '../../src/process/logger.js';

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

  it('waits once for the reader of a full pipe, not once per line, and goes on when it reads', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sd-log-'));
    execFileSync('mkfifo', [join(folder, 'log')]);
    const pipe = openSync(join(folder, 'log'), constants.O_RDWR | constants.O_NONBLOCK);
    const output = lossyOutput(pipe);
    const timed = (text: string) => {
      const start = performance.now();
      output.write(text);
      return performance.now() - start;
    };
    try {
      const first = timed(`${'x'.repeat(2 ** 20)}\n`);
      let rest = 0;
      for (let i = 0; i < 30; i++) rest += timed('lost\n');
      expect(rest).toBeLessThan(first);
      const bytes = Buffer.alloc(2 ** 20);
      expect(bytes.toString('latin1', 0, readSync(pipe, bytes))).not.toContain('lost');
      output.write('kept\n');
      expect(bytes.toString('latin1', 0, readSync(pipe, bytes))).toBe('\nkept\n');
    } finally {
      closeSync(pipe);
      rmSync(folder, { recursive: true });
    }
  });
});
