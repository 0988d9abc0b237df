import { resolve } from 'node:path';
import { describeConfig, loadConfig } from '../../src/process/config.js';

describe('loadConfig', () => {
  it.each(['', '  '])('treats the value %j as not set', (empty) => {
    const env = Object.fromEntries(describeConfig().map((setting) => [setting.env, empty]));
    expect(loadConfig(env)).toEqual(loadConfig({}));
  });

  it('lets one key send 40 frames per second, as many as a machine of two cores should take', () => {
    expect(loadConfig({}).rateLimit / 60).toBeGreaterThanOrEqual(40);
  });

  it('takes an explicit 0', () => {
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

  it.each([
    ['PUBLIC_URL', 'foo', 'an http(s) address without a query'],
    ['PUBLIC_URL', 'https://cameras.example/?a=1', 'an http(s) address without a query'],
    ['DEVICE', 'gpu', 'auto, cpu or cuda:N'],
    ['CORS_ORIGINS', 'dashboard.example', 'origins as https://host or http://host:port'],
    ['CORS_ORIGINS', 'https://dashboard.example/', 'origins as https://host or http://host:port'],
    ['STRICT_DEVICE', 'maybe', 'on or off'],
    ['LOG_LEVEL', 'loud', 'one of trace, debug, info, warn, error, fatal, silent'],
  ])('refuses %s=%s and says what was expected', (name, given, expected) => {
    expect(() => loadConfig({ [name]: given })).toThrow(`${name}=${JSON.stringify(given)}: expected ${expected}`);
  });

  it('says what took the place of a removed setting', () => {
    expect(() => loadConfig({ ONVIF_DISCOVERY: 'on' })).toThrow(
      'ONVIF_DISCOVERY is removed: `scenedelta onvif` finds the cameras of a network',
    );
  });

  it('reads integers, flags, lists and devices under the camel-case name of their variable', () => {
    const env = { JOB_LOCK_MS: '5000', STRICT_DEVICE: 'Yes', S3_SOURCE_BUCKETS: ' a, ,b', DEVICE: 'cuda:1' };
    expect(loadConfig(env)).toMatchObject({
      jobLockMs: 5000,
      strictDevice: true,
      s3SourceBuckets: ['a', 'b'],
      device: 'cuda:1',
    });
  });

  it('finds the bundles of the repository from any folder', () => {
    expect(loadConfig({}).modelsDir).toBe(resolve('models'));
    expect(loadConfig({ MODELS_DIR: '../mine' }).modelsDir).toBe('../mine');
  });

  it('refuses AUTH=off on an address that other machines reach', () => {
    expect(() => loadConfig({ AUTH: 'off', HOST: '0.0.0.0' })).toThrow('expected a loopback HOST');
    expect(loadConfig({ AUTH: 'off', HOST: '127.0.0.2' })).toMatchObject({ auth: 'off' });
  });
});

describe('describeConfig', () => {
  it('states name, type with range, default and meaning of each setting', () => {
    expect(describeConfig()).toContainEqual({
      env: 'BATCH_SIZE',
      type: 'integer from 1 to 64',
      default: '4',
      describe: 'Largest dynamic batch on a GPU; a CPU thread takes one task at a time.',
    });
    expect(describeConfig()).toContainEqual(expect.objectContaining({ env: 'REDIS_URL', type: 'text', default: '' }));
  });
});
