import { createLogger } from '../src/logger.js';
import { closeInOrder } from '../src/shutdown.js';

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

  it('goes on past a step that fails, and says so', async () => {
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

  it('gives up a step that takes longer than it may: cuts what is left, goes on, and says so', async () => {
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

  it('tells which step it is at', async () => {
    const begun: string[] = [];
    const steps = ['http', 'redis'].map((name) => ({
      name,
      close: async () => begun.push(`${name} closed`),
    }));
    await closeInOrder(steps, logger, (name) => begun.push(name));
    expect(begun).toEqual(['http', 'http closed', 'redis', 'redis closed']);
  });
});
