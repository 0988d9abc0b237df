/** Processes whose settings are refused: they say why in one line and end, however far their start has come. */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { afterAll, expect, it } from '@jest/globals';
import { newDataDir } from '../helpers/service.js';

/** Longer than a start takes, shorter than the patience of a supervisor: only a process that hangs reaches it. */
const HANGS_MS = 30_000;
const dataDir = newDataDir();
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const start = (entry: readonly string[], env: Readonly<Record<string, string>>) =>
  new Promise<{ status: unknown; output: string }>((done) => {
    const base = { REDIS_URL: `unix://${dataDir}/none.sock`, DATA_DIR: dataDir, PORT: '0', AUTH: 'off' };
    const options = { env: { ...process.env, ...base, ...env }, timeout: HANGS_MS };
    execFile(process.execPath, [...entry], options, (error, stdout, stderr) =>
      done({ status: error === null ? 0 : (error.code ?? error.signal), output: stdout + stderr }),
    );
  });

const SETTINGS = [
  { OUTBOUND_ALLOW: 'bad' },
  { WEBHOOK_SECRET: 'short' },
  { S3_ENDPOINT: 'https://s3.example' },
  { S3_FRAME_BUCKET: 'frames' },
  { PUBLIC_URL: 'foo' },
  { DEFAULT_MODEL: 'zzz' },
];
const cases = SETTINGS.flatMap((env) =>
  ['serve', 'worker'].map((command) => [Object.keys(env)[0] ?? '', command, env] as const),
);

it.each(cases)(
  '%s: scenedelta %s ends with a line that names it',
  async (name, command, env) => {
    const { status, output } = await start(['dist/cli/main.js', command], env);
    expect(output).toContain(env.DEFAULT_MODEL === undefined ? name : 'zzz');
    expect([1, 2]).toContain(status);
  },
  60_000,
);

it.each(['api', 'workers'])(
  'so does dist/%s/main.js',
  async (part) => {
    const { status, output } = await start([`dist/${part}/main.js`], { OUTBOUND_ALLOW: '10.0.0' });
    expect(output).toContain('OUTBOUND_ALLOW has');
    expect(status).toBe(1);
  },
  60_000,
);
