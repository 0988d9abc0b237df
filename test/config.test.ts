import { describeConfig, loadConfig } from '../src/config.js';

describe('loadConfig', () => {
  it.each(['', '  '])('takes a variable that is %j as one that is not set', (empty) => {
    const env = Object.fromEntries(describeConfig().map((setting) => [setting.env, empty]));
    expect(loadConfig(env)).toEqual(loadConfig({}));
  });

  it('takes 0 where it is said', () => {
    expect(loadConfig({ RATE_LIMIT: '0', FRAME_RETENTION_HOURS: '0' })).toMatchObject({
      rateLimit: 0,
      frameRetentionHours: 0,
    });
  });

  it.each(['1e3', '0x10', ' 8', '+8', '8.0', '-1', '99999999999999999999', 'many'])(
    'refuses the integer %j, naming the variable',
    (given) => {
      expect(() => loadConfig({ MAX_WAITING: given })).toThrow(
        `MAX_WAITING=${JSON.stringify(given)}: expected an integer from 1 to 10000000`,
      );
    },
  );
});
