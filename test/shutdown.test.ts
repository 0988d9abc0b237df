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
});
