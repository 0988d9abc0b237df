import { EventEmitter } from 'node:events';
import { createLogger } from '../../src/process/logger.js';
import { type ClosingStep, closeInOrder, closeOnSignals } from '../../src/process/shutdown.js';

const logger = createLogger({ level: 'silent', name: 'test' });

describe('closeInOrder', () => {
  it('closes one step after the other', async () => {
    const closed: string[] = [];
    const step = (name: string, ms: number) => ({
      name,
      close: async () => {
        await new Promise((resolve) => setTimeout(resolve, ms));
        closed.push(name);
      },
    });
    expect(await closeInOrder([step('http', 20), step('queue', 1), step('redis', 1)], logger)).toBe(true);
    expect(closed).toEqual(['http', 'queue', 'redis']);
  });

  it('continues after a step that fails, and reports it', async () => {
    let last = false;
    const steps = [
      { name: 'fails', close: () => Promise.reject(new Error('no')) },
      {
        name: 'last',
        close: async () => {
          last = true;
        },
      },
    ];
    expect([await closeInOrder(steps, logger), last]).toEqual([false, true]);
  });

  it('gives up a step at its limit: cuts it, continues, and reports it', async () => {
    const happened: string[] = [];
    const steps = [
      {
        name: 'hangs',
        close: () => new Promise(() => {}),
        withinMs: 1,
        cut: () => happened.push('cut'),
      },
      { name: 'last', close: async () => happened.push('last'), withinMs: 10_000 },
    ];
    expect([await closeInOrder(steps, logger), happened]).toEqual([false, ['cut', 'last']]);
  });

  it('reports the step that is running', async () => {
    const begun: string[] = [];
    const steps = ['http', 'redis'].map((name) => ({
      name,
      close: async () => begun.push(`${name} closed`),
    }));
    await closeInOrder(steps, logger, (name) => begun.push(name));
    expect(begun).toEqual(['http', 'http closed', 'redis', 'redis closed']);
  });

  it('closes each step once, also a step that is added in front while another closes', async () => {
    const closed: string[] = [];
    const steps: ClosingStep[] = [];
    const add = (name: string, during: () => void = () => {}) =>
      steps.unshift({
        name,
        close: async () => {
          during();
          closed.push(name);
        },
      });
    add('redis');
    add('model', () => {
      if (closed.length > 0) return;
      add('queues fed');
      add('queues served');
    });
    expect(await closeInOrder(steps, logger)).toBe(true);
    expect(closed).toEqual(['model', 'queues served', 'queues fed', 'redis']);
  });
});

describe('closeOnSignals', () => {
  it('lets a start continue until a signal comes, and not after it', async () => {
    const signals = new EventEmitter();
    let exited = (_code: number) => {};
    const exit = new Promise<number>((resolve) => {
      exited = resolve;
    });
    const shutdown = closeOnSignals([{ name: 'redis', close: async () => {} }], {
      deadlineMs: 10_000,
      logger,
      exit: exited,
      signals,
    });
    await shutdown.haltIfClosing();
    signals.emit('SIGTERM', 'SIGTERM');
    const outcome = await Promise.race([shutdown.haltIfClosing().then(() => 'goes on'), exit]);
    expect(outcome).toBe(0);
  });
});
